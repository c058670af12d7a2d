#!/usr/bin/env python3
"""Checks exports of one run with programs nobody here wrote.

    tools/verify_exports.py out.usda --pc2 out.pc2 --obj out.obj [--abc out.abc] [--blender]

Opens the .usda with Pixar's USD library, runs its validators, and compares the points at the first,
middle and last frame with the .pc2 and the .obj sequence of the same run (all bodies, same frames).
With --blender also loads .usda and .pc2 into Blender (the `bpy` module, 370 MB) and compares what
Blender shows. With --abc (needs --pc2) the Alembic archive is read by the Alembic library (the
`alembic3d` module) and, with --blender, by Blender. Makes its own virtual environment; if PyPI cannot be reached it says so and exits 0.
Exit code 1 means a check failed.
"""

import argparse
import os
import subprocess
import sys
import venv
from pathlib import Path

INSIDE = "PLIANT_VERIFY_INSIDE"
USD = ["usd-core", "numpy"]
BLENDER = ["bpy==5.0.1", "numpy"]
ALEMBIC = ["alembic3d==1.8.12.1", "numpy"]


def python_with(packages, directory):
    """The interpreter of a virtual environment that has the packages, or None and why."""
    python = directory / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp = directory / "installed.txt"
    wanted = "\n".join(packages)
    if stamp.exists() and stamp.read_text() == wanted:
        return python, None
    try:
        venv.create(directory, with_pip=True, clear=True)
    except Exception as e:  # no ensurepip, no space, ...
        return None, f"no virtual environment in {directory}: {e}"
    result = subprocess.run(
        [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages],
        capture_output=True, text=True)
    if result.returncode != 0:
        lines = (result.stderr or result.stdout).strip().splitlines()
        return None, f"pip could not install {', '.join(packages)}: {lines[-1] if lines else 'no message'}"
    stamp.write_text(wanted)
    return python, None


class Report:
    def __init__(self):
        self.failed = 0

    def check(self, ok, text):
        print(("passed: " if ok else "FAILED: ") + text)
        self.failed += not ok
        return ok


def read_pc2(path):
    """A PC2 file by its specification: header fields and an array (samples, points, 3)."""
    import numpy as np
    import struct
    data = Path(path).read_bytes()
    magic, version, points, start, rate, samples = struct.unpack_from("<12siiffi", data)
    if magic != b"POINTCACHE2\0" or version != 1:
        raise ValueError(f"{path}: not a PC2 file of version 1")
    values = np.frombuffer(data, "<f4", offset=32)
    return start, rate, values.reshape(samples, points, 3)


def read_obj(path):
    import numpy as np
    vertices, normals, corners = [], [], []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            parts = line.split()
            if parts[:1] == ["v"]:
                vertices.append([float(x) for x in parts[1:4]])
            elif parts[:1] == ["vn"]:
                normals.append([float(x) for x in parts[1:4]])
            elif parts[:1] == ["f"]:
                corners += [int(corner.split("/")[0]) - 1 for corner in parts[1:]]
    return np.array(vertices, "f4").reshape(-1, 3), np.array(normals, "f4").reshape(-1, 3), corners


def first_middle_last(count):
    return sorted({0, count // 2, count - 1})


def validate(stage, path, report):
    """Pixar's validators: UsdValidation in new releases, the ComplianceChecker in old ones."""
    try:
        from pxr import UsdValidation
    except ImportError:
        from pxr import UsdUtils
        checker = UsdUtils.ComplianceChecker(arkit=False, skipARKitRootLayerCheck=True)
        checker.CheckCompliance(str(path))
        found = checker.GetErrors() + checker.GetFailedChecks() + checker.GetWarnings()
        for text in found:
            print("   ", text)
        report.check(not found, "UsdUtils.ComplianceChecker has nothing to say")
        return
    validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    found = UsdValidation.ValidationContext(validators).Validate(stage)
    for error in found:
        print(f"    {error.GetType()} {error.GetName()}: {error.GetMessage()}")
    report.check(len(validators) > 0 and not found, f"{len(validators)} USD validators have nothing to say")


def verify_usd(args, report):
    import numpy as np
    from pxr import Usd, UsdGeom, UsdShade
    print(f"USD library {'.'.join(map(str, Usd.GetVersion()))}, {args.usda}")
    stage = Usd.Stage.Open(args.usda)
    if not report.check(bool(stage), "the stage opens"):
        return
    validate(stage, args.usda, report)
    root = stage.GetDefaultPrim()
    report.check(bool(root) and UsdGeom.GetStageUpAxis(stage) == "Y"
                 and UsdGeom.GetStageMetersPerUnit(stage) == 1.0, "default prim, y up, metres")
    prims = [p for p in stage.Traverse() if p.IsA(UsdGeom.PointBased)]
    report.check(len(prims) > 0, f"{len(prims)} meshes or point clouds: "
                 + ", ".join(f"{p.GetName()} ({p.GetTypeName()})" for p in prims))
    codes = UsdGeom.PointBased(prims[0]).GetPointsAttr().GetTimeSamples() if prims else []
    same = all(UsdGeom.PointBased(p).GetPointsAttr().GetTimeSamples() == codes for p in prims)
    report.check(same and bool(codes) and codes[0] == stage.GetStartTimeCode()
                 and codes[-1] == stage.GetEndTimeCode(), f"{len(codes)} time samples from start to end code")
    if not codes:
        return

    def values(kind, code):
        return np.concatenate([np.array(kind(UsdGeom.PointBased(p)).Get(code), "f4").reshape(-1, 3)
                               for p in prims])

    for p in prims:
        material = UsdShade.MaterialBindingAPI(p).ComputeBoundMaterial()[0]
        report.check(bool(material) and bool(material.ComputeSurfaceSource()[0]), f"{p.GetName()}: bound material with a surface")
        if p.IsA(UsdGeom.Mesh):
            mesh = UsdGeom.Mesh(p)
            ok, why = UsdGeom.Mesh.ValidateTopology(mesh.GetFaceVertexIndicesAttr().Get(),
                                                    mesh.GetFaceVertexCountsAttr().Get(),
                                                    len(mesh.GetPointsAttr().Get(codes[0])))
            report.check(ok, f"{p.GetName()}: topology is valid {why}")
        for code in codes:
            stored = np.array(UsdGeom.Boundable(p).GetExtentAttr().Get(code))
            computed = np.array(UsdGeom.Boundable.ComputeExtentFromPlugins(UsdGeom.Boundable(p), code))
            if not np.allclose(stored, computed, rtol=1e-6, atol=1e-6):
                report.check(False, f"{p.GetName()}: extent at {code} is {stored}, USD computes {computed}")
                break
        else:
            report.check(True, f"{p.GetName()}: extents are those USD computes, all {len(codes)} frames")

    if args.pc2:
        start, rate, cache = read_pc2(args.pc2)
        report.check(len(cache) == len(codes) and start == codes[0], f"PC2 has {len(cache)} samples from frame {start:g}")
        for k in first_middle_last(len(codes)):
            report.check(k < len(cache) and start + rate * k == codes[k]
                         and np.array_equal(values(UsdGeom.PointBased.GetPointsAttr, codes[k]), cache[k]),
                         f"frame {codes[k]:g}: USD and PC2 have the same {cache.shape[1]} points, bit for bit")
    if args.obj:
        base = Path(args.obj)
        for k in first_middle_last(len(codes)):
            path = base.with_name(f"{base.stem}_{int(codes[k]):04d}{base.suffix}")
            vertices, normals, corners = read_obj(path)
            report.check(np.array_equal(values(UsdGeom.PointBased.GetPointsAttr, codes[k]), vertices),
                         f"frame {codes[k]:g}: USD and {path.name} have the same {len(vertices)} points, bit for bit")
            meshes = [UsdGeom.Mesh(p) for p in prims if p.IsA(UsdGeom.Mesh)]
            usd = [np.array(m.GetNormalsAttr().Get(codes[k]), "f4") for m in meshes]
            count = sum(len(m.GetFaceVertexIndicesAttr().Get()) for m in meshes)
            report.check(len(corners) == count and (not usd or np.array_equal(np.concatenate(usd), normals)),
                         f"frame {codes[k]:g}: normals and {len(corners)} corners agree too")


def verify_blender(args, report):
    import bpy
    import numpy as np
    print(f"Blender {bpy.app.version_string}, {args.usda}")
    start, rate, cache = read_pc2(args.pc2)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.usd_import(filepath=os.path.abspath(args.usda), set_frame_range=True)
    scene = bpy.context.scene
    report.check(scene.frame_start == start and scene.frame_end == start + rate * (len(cache) - 1),
                 f"Blender's frame range is {scene.frame_start}..{scene.frame_end}")
    names = [o.name for o in bpy.data.objects if o.type in ("MESH", "POINTCLOUD")]
    print("    objects:", ", ".join(f"{o.name} ({o.type})" for o in bpy.data.objects))

    def positions(obj):
        data = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        attribute = data.attributes["position"].data
        out = np.empty(3 * len(attribute), "f4")
        attribute.foreach_get("vector", out)
        return out.reshape(-1, 3)

    # A mesh without faces as long as the cache, moved by the Mesh Cache modifier.
    mesh = bpy.data.meshes.new("cache")
    mesh.vertices.add(cache.shape[1])
    carrier = bpy.data.objects.new("cache", mesh)
    scene.collection.objects.link(carrier)
    modifier = carrier.modifiers.new("cache", "MESH_CACHE")
    modifier.cache_format = "PC2"
    modifier.filepath = os.path.abspath(args.pc2)
    modifier.frame_start = start

    # Blender lists objects by its own order: find each body's slice of the cache by its first frame.
    scene.frame_set(int(start))
    slices = {}
    for name in names:
        first = positions(bpy.data.objects[name])
        n = len(first)
        slices[name] = next((k for k in range(cache.shape[1] - n + 1)
                             if n and np.array_equal(cache[0, k:k + n], first)), None)
        report.check(slices[name] is not None, f"{name}: {n} points of the first frame found in the cache")
    report.check(sum(len(positions(bpy.data.objects[n])) for n in names) == cache.shape[1],
                 f"Blender shows all {cache.shape[1]} points")
    for k in first_middle_last(len(cache)):
        scene.frame_set(int(start + rate * k))
        report.check(np.array_equal(positions(carrier), cache[k]),
                     f"frame {scene.frame_current}: Blender's Mesh Cache shows the PC2's points, bit for bit")
        for name in names:
            if slices[name] is None:
                continue
            shown = positions(bpy.data.objects[name])
            wanted = cache[k, slices[name]:slices[name] + len(shown)]
            report.check(np.array_equal(shown, wanted),
                         f"frame {scene.frame_current}: Blender shows {name} from USD at the PC2's points, bit for bit")

    if not args.obj:
        return
    base = Path(args.obj)
    for k in first_middle_last(len(cache)):
        path = base.with_name(f"{base.stem}_{int(start + rate * k):04d}{base.suffix}")
        before = set(bpy.data.objects)
        # The axes of the file, not Blender's, so that numbers can be compared.
        bpy.ops.wm.obj_import(filepath=os.path.abspath(path), forward_axis="Y", up_axis="Z")
        shown = [positions(o) for o in bpy.data.objects if o not in before]
        shown = np.concatenate(shown) if shown else np.empty((0, 3), "f4")
        # Blender sorts objects by name, so compare as sets, and it has no point elements.
        vertices, _, corners = read_obj(path)
        used = np.unique(corners).astype(int)
        report.check(len(shown) == len(used)
                     and np.array_equal(np.unique(shown, axis=0), np.unique(cache[k][used], axis=0)),
                     f"Blender imports {path.name} with the {len(shown)} points of the PC2 that have faces, "
                     f"bit for bit ({len(vertices) - len(used)} points of clouds are not imported)")


def obj_faces(path):
    """Faces of an OBJ file: for each a list of (vertex, texture coordinate or None, normal or None)."""
    import numpy as np
    rows = {"vt": [], "vn": []}
    faces = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            parts = line.split()
            if parts[:1] and parts[0] in rows:
                rows[parts[0]].append([float(x) for x in parts[1:]])
            elif parts[:1] == ["f"]:
                corners = [(corner.split("/") + ["", ""])[:3] for corner in parts[1:]]
                faces.append([tuple(int(x) - 1 if x else None for x in corner) for corner in corners])
    values = {key: np.array(value, "f4") for key, value in rows.items()}
    return [[(v, None if t is None else values["vt"][t][:2], None if n is None else values["vn"][n])
             for v, t, n in face] for face in faces]


def frames_per_second(usda):
    """What the .usda of the same run says, as text: no USD library where Alembic is looked at."""
    import re
    with open(usda, encoding="utf-8") as lines:
        found = (re.match(r"\s*framesPerSecond = (\S+)", line) for line in lines)
        return next((float(m.group(1)) for m in found if m), 24.0)


def verify_alembic(args, report):
    """The archive as the Alembic library sees it, against the PC2 (all frames) and the OBJ sequence."""
    import imath  # noqa: F401  (the types of the arrays)
    import numpy as np
    from alembic3d import Abc, AbcGeom
    print(f"Alembic library {Abc.GetLibraryVersion() if hasattr(Abc, 'GetLibraryVersion') else ''}, {args.abc}")
    start, rate, cache = read_pc2(args.pc2)
    archive = Abc.IArchive(args.abc)
    top = archive.getTop()
    if not report.check(archive.valid() and archive.getNumTimeSamplings() == 2, "the archive opens"):
        return
    times = archive.getTimeSampling(1)
    seconds = [times.getSampleTime(k) for k in range(len(cache))]
    frames = [start + rate * k for k in range(len(cache))]
    fps = frames_per_second(args.usda)
    report.check(np.allclose(np.array(seconds) * fps, frames, rtol=0, atol=1e-9),
                 f"times are frames {frames[0]:g} to {frames[-1]:g} at {fps:g} per second")

    def triples(values):
        return np.array([list(v) for v in values], "f4").reshape(-1, 3)

    def box(bounds):
        return np.array([list(bounds.min()), list(bounds.max())])

    shapes = []
    for child in top.children:
        xform = AbcGeom.IXform(top, child.getName()).getSchema()
        shape = list(child.children)
        ok = len(shape) == 1 and xform.isConstantIdentity() and xform.getChildBoundsProperty().getNumSamples() == len(cache)
        mesh = ok and AbcGeom.IPolyMesh.matches(shape[0].getHeader())
        points = ok and AbcGeom.IPoints.matches(shape[0].getHeader())
        if report.check(mesh or points, f"{child.getName()}: an identity transform over one {'mesh' if mesh else 'cloud of points'}"):
            kind = AbcGeom.IPolyMesh if mesh else AbcGeom.IPoints
            shapes.append((child.getName(), mesh, kind(child, shape[0].getName()).getSchema(), xform))
    report.check(all(s.getNumSamples() == len(cache) for _, _, s, _ in shapes), f"{len(cache)} samples each")
    starts = {}
    same = bounds_fit = True
    for k, second in enumerate(seconds):
        selector = Abc.ISampleSelector(second)
        at = 0
        for name, mesh, schema, xform in shapes:
            sample = schema.getValue(selector)
            positions = triples(sample.getPositions())
            starts[name] = at
            same &= positions.tobytes() == cache[k, at:at + len(positions)].tobytes()
            at += len(positions)
            if len(positions):
                wanted = np.array([positions.min(0), positions.max(0)], "f8")
                bounds_fit &= np.array_equal(box(sample.getSelfBounds()), wanted)
                bounds_fit &= np.array_equal(box(xform.getChildBoundsProperty().getValue(selector)), wanted)
        same &= at == cache.shape[1]
    report.check(same, f"all {cache.shape[1]} points of all {len(cache)} frames are the PC2's, bit for bit")
    report.check(bounds_fit, "bounds of shapes and transforms are those of the points")

    for name, mesh, schema, _ in shapes:
        if not mesh:
            sample = schema.getValue()
            count = len(sample.getPositions())
            widths = list(schema.getWidthsParam().getExpandedValue().getVals())
            report.check(list(sample.getIds()) == list(range(count)) and len(widths) == count
                         and all(w > 0 for w in widths), f"{name}: {count} ids and widths")
            continue
        sample = schema.getValue()
        counts, indices = list(sample.getFaceCounts()), list(sample.getFaceIndices())
        report.check(sum(counts) == len(indices) and min(counts) >= 3 and not any(
            i < 0 or i >= len(sample.getPositions()) for i in indices), f"{name}: {len(counts)} faces fit the points")
        sets = [list(schema.getFaceSet(s).getSchema().getValue().getFaces()) for s in schema.getFaceSetNames()]
        report.check(sorted(f for s in sets for f in s) == list(range(len(counts))),
                     f"{name}: every face is in one of the face sets {', '.join(schema.getFaceSetNames())}")

    if not args.obj:
        return
    base = Path(args.obj)
    for k in first_middle_last(len(cache)):
        path = base.with_name(f"{base.stem}_{int(frames[k]):04d}{base.suffix}")
        selector = Abc.ISampleSelector(seconds[k])
        wanted = obj_faces(path)
        at = 0
        faces_fit, uvs_fit, normals_fit = True, True, True
        for name, mesh, schema, _ in shapes:
            if not mesh:
                continue
            sample = schema.getValue(selector)
            indices = list(sample.getFaceIndices())
            normals_param = schema.getNormalsParam()
            normals = triples(normals_param.getExpandedValue(selector).getVals())
            per_corner = normals_param.getScope() == AbcGeom.GeometryScope.kFacevaryingScope
            uvs = schema.getUVsParam()
            uvs = [list(v) for v in uvs.getExpandedValue(selector).getVals()] if uvs.valid() else None
            corner = 0
            for count in sample.getFaceCounts():
                face = wanted[at] if at < len(wanted) else []
                at += 1
                # Alembic's faces are clockwise: the OBJ's corners in reverse.
                order = range(corner + count - 1, corner - 1, -1)
                faces_fit &= [v for v, _, _ in face] == [indices[c] + starts[name] for c in order]
                for c, (_, uv, normal) in zip(order, face):
                    uvs_fit &= (uv is None) == (uvs is None) and (uv is None or np.allclose(uvs[c], uv, atol=1e-6))
                    normals_fit &= normal is None or np.allclose(normals[c if per_corner else indices[c]], normal, atol=2e-4)
                corner += count
        report.check(faces_fit and at == len(wanted), f"{path.name}: the same {at} faces, turned over")
        report.check(normals_fit and uvs_fit, f"{path.name}: the same normals and texture coordinates")


def verify_alembic_blender(args, report):
    """The archive as Blender shows it, against the PC2 and the OBJ sequence."""
    import bpy
    import numpy as np
    print(f"Blender {bpy.app.version_string}, {args.abc}")
    start, rate, cache = read_pc2(args.pc2)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    fps = frames_per_second(args.usda)
    scene.render.fps = max(1, round(fps))
    scene.render.fps_base = scene.render.fps / fps
    done = bpy.ops.wm.alembic_import(filepath=os.path.abspath(args.abc), set_frame_range=True, as_background_job=False)
    report.check(done == {"FINISHED"}, "Blender imports the archive")
    last = start + rate * (len(cache) - 1)
    report.check(scene.frame_start == start and scene.frame_end == last,
                 f"Blender's frame range is {scene.frame_start}..{scene.frame_end}")
    objects = [o for o in bpy.data.objects if o.type in ("MESH", "POINTCLOUD")]
    print("    objects:", ", ".join(f"{o.name} ({o.type})" for o in objects))
    report.check(all(np.array_equal(np.array(o.matrix_world), np.eye(4)) for o in objects), "no object is moved")

    def shown(obj):
        return obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data

    def read(collection, key, width):
        out = np.empty(width * len(collection), "f4")
        collection.foreach_get(key, out)
        return out.reshape(-1, width)

    def y_up(vectors):
        """Undoes Blender's turn of the axes."""
        return np.stack([vectors[:, 0], vectors[:, 2], -vectors[:, 1]], axis=1)

    def positions(obj):
        return y_up(read(shown(obj).attributes["position"].data, "vector", 3))

    scene.frame_set(int(start))
    slices = {}
    for o in objects:
        first = positions(o)
        n = len(first)
        slices[o.name] = next((k for k in range(cache.shape[1] - n + 1)
                               if np.array_equal(cache[0, k:k + n], first)), None)
        report.check(slices[o.name] is not None, f"{o.name}: {n} points of the first frame found in the PC2")
    report.check(sum(len(positions(o)) for o in objects) == cache.shape[1], f"Blender shows all {cache.shape[1]} points")
    for k in first_middle_last(len(cache)):
        scene.frame_set(int(start + rate * k))
        faces = None
        if args.obj:
            base = Path(args.obj)
            faces = obj_faces(base.with_name(f"{base.stem}_{int(start + rate * k):04d}{base.suffix}"))
        for o in objects:
            if slices[o.name] is None:
                continue
            at, points = slices[o.name], positions(o)
            report.check(np.array_equal(points, cache[k, at:at + len(points)]),
                         f"frame {scene.frame_current}: Blender shows {o.name} at the PC2's points, bit for bit")
            if o.type != "MESH" or faces is None:
                continue
            mesh = shown(o)
            own = [f for f in faces if at <= f[0][0] < at + len(points)]
            polygons = [[v + at for v in p.vertices] for p in mesh.polygons]
            report.check(polygons == [[v for v, _, _ in f] for f in own],
                         f"frame {scene.frame_current}: {o.name} has the OBJ's {len(own)} faces")
            corners = [c for f in own for c in f]
            if corners and corners[0][2] is not None:
                # Blender keeps custom normals in 16 bits.
                normals = y_up(read(mesh.corner_normals, "vector", 3))
                wanted = np.array([n for _, _, n in corners])
                report.check(len(normals) == len(wanted) and np.abs(normals - wanted).max() < 2e-3,
                             f"frame {scene.frame_current}: {o.name} has the OBJ's normals")
            if corners and corners[0][1] is not None:
                uvs = read(mesh.uv_layers[0].data, "uv", 2) if mesh.uv_layers else np.empty((0, 2))
                wanted = np.array([t for _, t, _ in corners])
                report.check(len(uvs) == len(wanted) and np.allclose(uvs, wanted, atol=1e-6),
                             f"frame {scene.frame_current}: {o.name} has the OBJ's texture coordinates")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("usda")
    parser.add_argument("--pc2", help="PC2 of the same run, all bodies")
    parser.add_argument("--obj", help="OBJ of the same run, as named at export (without the number)")
    parser.add_argument("--abc", help="Alembic archive of the same run, all bodies (needs --pc2)")
    parser.add_argument("--blender", action="store_true", help="also look with Blender (needs --pc2)")
    parser.add_argument("--venv", help="where to keep the virtual environments")
    args = parser.parse_args()

    inside = os.environ.get(INSIDE)
    if inside:
        report = Report()
        {"usd": verify_usd, "blender": verify_blender, "alembic": verify_alembic}[inside](args, report)
        if inside == "blender" and args.abc:
            verify_alembic_blender(args, report)
        sys.exit(1 if report.failed else 0)

    for path in filter(None, [args.usda, args.pc2, args.abc]):
        if not Path(path).is_file():
            parser.error(f"{path}: no such file")
    if (args.blender or args.abc) and not args.pc2:
        parser.error("--blender and --abc need --pc2 to compare with")
    cache = Path(args.venv or Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "pliant-verify")
    failed = checked = False
    wanted = [("usd", USD)]
    wanted += [("alembic", ALEMBIC)] if args.abc else []
    wanted += [("blender", BLENDER)] if args.blender else []
    for name, packages in wanted:
        python, why = python_with(packages, cache / name)
        if python is None:
            print(f"skipped: {name}: {why}")
            continue
        command = [str(python), os.path.abspath(__file__), *sys.argv[1:]]
        checked = True
        failed |= subprocess.run(command, env={**os.environ, INSIDE: name}).returncode != 0
    print("something failed" if failed else "all that was checked passed" if checked else "nothing was checked")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
