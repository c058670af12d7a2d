#!/usr/bin/env python3
"""Checks exports of one run with programs nobody here wrote.

    tools/verify_exports.py out.usda --pc2 out.pc2 --obj out.obj --glb out.glb [--blender]

Opens the .usda with Pixar's USD library, runs its validators, and compares the points at the first,
middle and last frame with the .pc2 and the .obj sequence of the same run (all bodies, same frames).
Opens the .glb with trimesh, and with --blender in Blender, and compares it with the .pc2.
With --blender also loads .usda and .pc2 into Blender (the `bpy` module, 370 MB) and compares what
Blender shows. Makes its own virtual environment; if PyPI cannot be reached it says so and exits 0.
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
TRIMESH = ["trimesh", "numpy"]


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


def read_glb(path):
    """A GLB file by its specification: its JSON and a function that gives accessors as arrays."""
    import json
    import struct
    import numpy as np
    data = Path(path).read_bytes()
    magic, version, length, json_length, kind = struct.unpack_from("<4sII I4s", data)
    if magic != b"glTF" or version != 2 or length != len(data) or kind != b"JSON":
        raise ValueError(f"{path}: not a GLB file of version 2")
    document = json.loads(data[20:20 + json_length])

    def accessor(index):
        a = document["accessors"][index]
        view = document["bufferViews"][a["bufferView"]]
        start = 28 + json_length + view["byteOffset"] + a["byteOffset"]
        width = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}[a["type"]]
        kind = {5123: "<u2", 5125: "<u4", 5126: "<f4"}[a["componentType"]]
        return np.frombuffer(data, kind, a["count"] * width, start).reshape(a["count"], width)
    return document, accessor


def same_moves(frames, cache):
    """How far points at some frames are from the cache's, which may have them once where here they are split.
    The first frame is stored as it is, so it tells which point is which."""
    import numpy as np
    places = {}
    for k, point in enumerate(cache[0]):
        places.setdefault(point.tobytes(), []).append(k)
    worst = 0.0
    for v, point in enumerate(frames[0][1]):
        candidates = places.get((point + np.float32(0)).astype("f4").tobytes())
        if candidates is None:
            return float("inf")
        worst = max(worst, min(max(np.abs(shown[v] - cache[k][c]).max() for k, shown in frames) for c in candidates))
    return worst


def verify_glb(args, report):
    """With trimesh or with Blender, whichever this interpreter has."""
    import numpy as np
    document, accessor = read_glb(args.glb)
    start, rate, cache = read_pc2(args.pc2)
    chosen = first_middle_last(len(cache))
    # A first frame plus a difference, each of them rounded.
    tolerance = 4 * np.finfo("f4").eps * max(1.0, float(np.abs(cache).max()))
    cache = cache + np.float32(0)
    nodes = [n for n in document["nodes"] if "mesh" in n]
    names = [n.get("name", "") for n in nodes]
    primitives = [document["meshes"][n["mesh"]]["primitives"] for n in nodes]
    clip = document.get("animations", [None])[0]
    times = accessor(clip["samplers"][0]["input"]).ravel() if clip else np.zeros(1, "f4")
    fps = 1.0 / float(times[1]) if len(times) > 1 else 24.0
    report.check(len(times) == len(cache), f"{args.glb}: {len(times)} keyframes, {fps:.6g} a second at first")

    def faces_of(parts):
        return sum(document["accessors"][p["indices"]]["count"] // 3 for p in parts if "indices" in p)

    try:
        import bpy
    except ImportError:
        bpy = None
    if bpy is None:
        import trimesh
        print(f"trimesh {trimesh.__version__}, {args.glb}")
        scene = trimesh.load(args.glb, process=False)
        shown = sorted(name for name in scene.graph.nodes_geometry)
        report.check(len(scene.geometry) == sum(map(len, primitives)), f"trimesh has {len(scene.geometry)} parts: {shown}")
        report.check(all(any(s.startswith(n) for s in shown) for n in names), "all bodies are there by name")
        count = sum(len(g.faces) for g in scene.geometry.values() if hasattr(g, "faces"))
        wanted = sum(map(faces_of, primitives))
        report.check(count == wanted, f"trimesh has {count} of {wanted} triangles")
        points = np.concatenate([g.vertices for g in scene.geometry.values()]).astype("f4")
        used = {p.tobytes() for p in cache[0]}
        report.check(all((p + np.float32(0)).tobytes() in used for p in points),
                     f"trimesh's {len(points)} vertices are the PC2's of the first frame, bit for bit")
        for n, parts in zip(names, primitives):
            frames = []
            for k in chosen:
                at = [accessor(p["attributes"]["POSITION"])
                      + (accessor(p["targets"][k - 1]["POSITION"]) if k else np.float32(0)) for p in parts]
                frames.append((k, np.concatenate(at)))
            worst = same_moves(frames, cache)
            report.check(worst <= tolerance, f"{n}: targets at frames {chosen} within {worst:.1e} of the PC2")
        return

    print(f"Blender {bpy.app.version_string}, {args.glb}")
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base = round(fps), round(fps) / fps if abs(fps - round(fps)) > 1e-3 else 1.0
    bpy.ops.import_scene.gltf(filepath=os.path.abspath(args.glb))
    objects = {o.name: o for o in bpy.data.objects if o.type == "MESH"}
    report.check(sorted(objects) == sorted(names), f"Blender's objects: {', '.join(objects)}")
    if clip:
        last = [a.frame_range[1] for a in bpy.data.actions]
        report.check(bool(last) and abs(max(last) - times[-1] * fps) < 1e-2, f"the action ends at frame {max(last):g}")
    frame_of = {k: float(times[k]) * fps for k in chosen}

    def positions(obj):
        data = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        out = np.empty(3 * len(data.vertices), "f4")
        data.attributes["position"].data.foreach_get("vector", out)
        x, y, z = out.reshape(-1, 3).T
        return np.stack([x, z, -y], axis=1) + np.float32(0)

    shown = {name: [] for name in objects}
    for k in chosen:
        frame = round(frame_of[k] * 1e3) / 1e3
        scene.frame_set(int(frame), subframe=frame - int(frame))
        for name, obj in objects.items():
            shown[name].append((k, positions(obj)))
    for name, parts in zip(names, primitives):
        if name not in objects:
            continue
        mesh = objects[name].data
        report.check(len(mesh.polygons) == faces_of(parts), f"{name}: {len(mesh.polygons)} triangles")
        worst = same_moves(shown[name], cache)
        report.check(worst <= tolerance, f"{name}: Blender shows frames {chosen} within {worst:.1e} of the PC2")
        wanted = [document["materials"][p["material"]] for p in parts]
        report.check([m.name for m in mesh.materials] == [m.get("name", "") for m in wanted],
                     f"{name}: materials {[m.name for m in mesh.materials]}")
        for material, given in zip(mesh.materials, wanted):
            node = next(n for n in material.node_tree.nodes if n.type == "BSDF_PRINCIPLED")
            if not node.inputs["Base Color"].is_linked:
                color = np.array(node.inputs["Base Color"].default_value)
                factor = np.array(given["pbrMetallicRoughness"]["baseColorFactor"])
                report.check(np.abs(color - factor)[:3].max() < 1e-6, f"{material.name}: colour {color.round(3)}")
        if "COLOR_0" in parts[0]["attributes"]:
            report.check(len(mesh.color_attributes) > 0, f"{name}: has vertex colours")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("usda")
    parser.add_argument("--pc2", help="PC2 of the same run, all bodies")
    parser.add_argument("--obj", help="OBJ of the same run, as named at export (without the number)")
    parser.add_argument("--glb", help="GLB of the same run, all bodies (needs --pc2)")
    parser.add_argument("--blender", action="store_true", help="also look with Blender (needs --pc2)")
    parser.add_argument("--venv", help="where to keep the virtual environments")
    args = parser.parse_args()

    inside = os.environ.get(INSIDE)
    if inside:
        report = Report()
        {"usd": verify_usd, "blender": verify_blender, "glb": verify_glb, "glb in Blender": verify_glb}[inside](args, report)
        sys.exit(1 if report.failed else 0)

    for path in filter(None, [args.usda, args.pc2, args.glb]):
        if not Path(path).is_file():
            parser.error(f"{path}: no such file")
    if args.blender and not args.pc2:
        parser.error("--blender needs --pc2 to compare with")
    if args.glb and not args.pc2:
        parser.error("--glb needs --pc2 to compare with")
    cache = Path(args.venv or Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "pliant-verify")
    failed = checked = False
    checks = [("usd", USD, "usd")]
    checks += [("glb", TRIMESH, "trimesh")] if args.glb else []
    checks += [("blender", BLENDER, "blender")] if args.blender else []
    checks += [("glb in Blender", BLENDER, "blender")] if args.blender and args.glb else []
    for name, packages, directory in checks:
        python, why = python_with(packages, cache / directory)
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
