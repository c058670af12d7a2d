#!/usr/bin/env python3
"""Exports of one run, read by other people's programs and compared with one another.

    tools/verify_exports.py --usda run.usda --usdz run.usdz --pc2 run.pc2 --mdd run.mdd --obj run.obj \\
                            --vtu run.pvd [--glb run.glb] [--abc run.abc] [--ply run.ply] [--msh bear.msh]

Give what there is, all of the same run, with all bodies and the same frames; --pc2 is what positions are compared
with. Each program lives in a virtual environment of its own, filled from PyPI:

    usd      usd-core             USD's validators; prims, materials, positions, normals
    mesh     meshio, pyvista, trimesh   VTU, PLY, MSH, OBJ, GLB
    blender  bpy 5.0.1 (370 MB, Python 3.11)    what Blender shows of USD, PC2, MDD, OBJ, PLY, GLB, Alembic

What cannot be had (no PyPI, no Python 3.11) is skipped, with the reason. Exit code 1 means that a check failed.
"""

import argparse
import os
import shutil
import struct
import subprocess
import sys
import venv
from pathlib import Path

INSIDE = "PLIANT_VERIFY_INSIDE"
FORMATS = ["usda", "usdz", "pc2", "mdd", "obj", "ply", "vtu", "glb", "abc", "msh"]
ENVIRONMENTS = {
    "usd": (["usd-core", "numpy"], None),
    "mesh": (["meshio", "pyvista", "trimesh", "numpy"], None),
    "blender": (["bpy==5.0.1", "numpy"], (3, 11)),
}


# --- environments -----------------------------------------------------------------------------------------------

def python_of(directory):
    return directory / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def make_environment(directory, version):
    """A virtual environment, of a certain version of Python if the packages need one."""
    if version is None or sys.version_info[:2] == version:
        venv.create(directory, with_pip=True, clear=True)
        return
    name = "python%d.%d" % version
    if shutil.which(name) is None:
        raise RuntimeError(f"there is no {name} on this machine, this is Python %d.%d" % sys.version_info[:2])
    subprocess.run([name, "-m", "venv", "--clear", str(directory)], check=True, capture_output=True)


def python_with(name, directory):
    """The interpreter of an environment with its packages, or None and why."""
    packages, version = ENVIRONMENTS[name]
    python, stamp, wanted = python_of(directory), directory / "installed.txt", "\n".join(packages)
    if stamp.exists() and stamp.read_text() == wanted:
        return python, None
    try:
        make_environment(directory, version)
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


# --- what all checks share --------------------------------------------------------------------------------------

class Report:
    def __init__(self):
        self.failed = 0

    def check(self, ok, text):
        print(("passed: " if ok else "FAILED: ") + text)
        self.failed += not ok
        return ok

    def skip(self, text):
        print("skipped: " + text)


def first_middle_last(count):
    return sorted({0, count // 2, count - 1})


def numbered(path, frame):
    return path.with_name(f"{path.stem}_{int(frame):04d}{path.suffix}")


def read_pc2(path):
    """A PC2 file by its specification: start, rate and an array (samples, points, 3)."""
    import numpy as np
    data = Path(path).read_bytes()
    magic, version, points, start, rate, samples = struct.unpack_from("<12siiffi", data)
    if magic != b"POINTCACHE2\0" or version != 1:
        raise ValueError(f"{path}: not a PC2 file of version 1")
    return start, rate, np.frombuffer(data, "<f4", offset=32).reshape(samples, points, 3)


class Cache:
    """What positions are compared with: the PC2."""

    def __init__(self, path):
        self.start, self.rate, self.points = read_pc2(path)

    def frame(self, k):
        return self.start + self.rate * k

    def chosen(self):
        return first_middle_last(len(self.points))


class Obj:
    """What an OBJ file holds, as far as it is compared."""

    def __init__(self, path):
        import numpy as np
        vertices, self.corners, self.sizes, self.names = [], [], [], []
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                parts = line.split()
                if parts[:1] == ["v"]:
                    vertices.append([float(x) for x in parts[1:4]])
                elif parts[:1] == ["o"]:
                    self.names.append(parts[1])
                elif parts[:1] == ["f"]:
                    self.sizes.append(len(parts) - 1)
                    self.corners += [int(corner.split("/")[0]) - 1 for corner in parts[1:]]
        self.vertices = np.array(vertices, "f4").reshape(-1, 3)


def same(a, b):
    import numpy as np
    return a.shape == b.shape and np.array_equal(a, b)


# --- caches, without anybody's help -----------------------------------------------------------------------------

def verify_mdd(args, report):
    """MDD by its specification, against the PC2."""
    import numpy as np
    data, cache = Path(args.mdd).read_bytes(), Cache(args.pc2)
    frames, points = struct.unpack_from(">ii", data)
    times = np.frombuffer(data, ">f4", frames, 8)
    values = np.frombuffer(data, ">f4", offset=8 + 4 * frames)
    report.check(len(values) == 3 * frames * points and (np.diff(times) > 0).all(),
                 f"MDD has {frames} frames of {points} points, times rise to {times[-1]:g} s")
    report.check(same(values.reshape(frames, points, 3).astype("f4"), cache.points),
                 "MDD and PC2 have the same points in all frames, bit for bit")


# --- USD --------------------------------------------------------------------------------------------------------

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


def usd_prims(stage):
    from pxr import UsdGeom
    return [p for p in stage.Traverse() if p.IsA(UsdGeom.PointBased)]


def usd_points(prims, code):
    import numpy as np
    from pxr import UsdGeom
    return np.concatenate([np.array(UsdGeom.PointBased(p).GetPointsAttr().Get(code), "f4").reshape(-1, 3)
                           for p in prims])


def verify_usd_material(prim, report):
    """Every face has one material with a surface, and what materials read is there."""
    from pxr import UsdGeom, UsdShade
    name = prim.GetName()
    subsets = UsdShade.MaterialBindingAPI(prim).GetMaterialBindSubsets() if prim.IsA(UsdGeom.Mesh) else []
    if subsets:
        imageable = UsdGeom.Imageable(prim)
        family = UsdShade.MaterialBindingAPI(prim).GetMaterialBindSubsetsFamilyType()
        ok, why = UsdGeom.Subset.ValidateFamily(imageable, UsdGeom.Tokens.face, UsdShade.Tokens.materialBind)
        report.check(ok and family == UsdGeom.Tokens.partition,
                     f"{name}: {len(subsets)} materials share the faces between them {why}")
    for p in [s.GetPrim() for s in subsets] or [prim]:
        material = UsdShade.MaterialBindingAPI(p).ComputeBoundMaterial()[0]
        surface = material.ComputeSurfaceSource()[0] if material else None
        if not report.check(bool(surface), f"{name}: {p.GetName()} has a bound material with a surface"):
            continue
        for shader in [UsdShade.Shader(c) for c in material.GetPrim().GetChildren()]:
            if not shader.GetIdAttr().Get().startswith("UsdPrimvarReader"):
                continue
            wanted = shader.GetInput("varname").Get()
            report.check(UsdGeom.PrimvarsAPI(prim).HasPrimvar(wanted), f"{name}: has the primvar {wanted} its material reads")


def verify_usd_mesh(prim, codes, report):
    """Topology, and as many values in every primvar as its interpolation asks for."""
    from pxr import UsdGeom
    mesh, name = UsdGeom.Mesh(prim), prim.GetName()
    indices, counts = mesh.GetFaceVertexIndicesAttr().Get(), mesh.GetFaceVertexCountsAttr().Get()
    vertices = len(mesh.GetPointsAttr().Get(codes[0]))
    ok, why = UsdGeom.Mesh.ValidateTopology(indices, counts, vertices)
    report.check(ok, f"{name}: topology of {len(counts)} faces is valid {why}")
    sizes = {"constant": 1, "uniform": len(counts), "vertex": vertices, "varying": vertices, "faceVarying": len(indices)}
    for primvar in UsdGeom.PrimvarsAPI(prim).GetPrimvarsWithValues():
        for code in (codes[0], codes[-1]):
            values = primvar.ComputeFlattened(code)
            report.check(values is not None and len(values) == sizes[primvar.GetInterpolation()],
                         f"{name}: {primvar.GetPrimvarName()} has a value per {primvar.GetInterpolation()} element")
            if not primvar.ValueMightBeTimeVarying():
                break
    normals = UsdGeom.PrimvarsAPI(prim).GetPrimvar("normals")
    values = normals.ComputeFlattened(codes[-1]) if normals else mesh.GetNormalsAttr().Get(codes[-1])
    length = all(abs(sum(x * x for x in n) - 1) < 1e-3 for n in values)
    expected = len(indices) if normals else vertices
    report.check(length and len(values) == expected, f"{name}: {len(values)} unit normals at the end")


def verify_usd_extents(prim, codes, report):
    import numpy as np
    from pxr import UsdGeom
    boundable = UsdGeom.Boundable(prim)
    for code in codes:
        stored = np.array(boundable.GetExtentAttr().Get(code))
        computed = np.array(UsdGeom.Boundable.ComputeExtentFromPlugins(boundable, code))
        if not np.allclose(stored, computed, rtol=1e-6, atol=1e-6):
            report.check(False, f"{prim.GetName()}: extent at {code} is {stored}, USD computes {computed}")
            return
    report.check(True, f"{prim.GetName()}: extents are those USD computes, all {len(codes)} frames")


def verify_usd(args, report):
    from pxr import Usd, UsdGeom
    print(f"USD library {'.'.join(map(str, Usd.GetVersion()))}, {args.usda}")
    stage = Usd.Stage.Open(args.usda)
    if not report.check(bool(stage), "the stage opens"):
        return
    validate(stage, args.usda, report)
    metres, axis = UsdGeom.GetStageMetersPerUnit(stage), UsdGeom.GetStageUpAxis(stage)
    report.check(bool(stage.GetDefaultPrim()) and UsdGeom.StageHasAuthoredMetersPerUnit(stage)
                 and metres > 0 and axis in ("Y", "Z"),
                 f"default prim, {axis} up, {metres:g} metres per unit")
    prims = usd_prims(stage)
    report.check(len(prims) > 0, f"{len(prims)} meshes or point clouds: "
                 + ", ".join(f"{p.GetName()} ({p.GetTypeName()}, \"{p.GetDisplayName()}\")" for p in prims))
    codes = UsdGeom.PointBased(prims[0]).GetPointsAttr().GetTimeSamples() if prims else []
    alike = all(UsdGeom.PointBased(p).GetPointsAttr().GetTimeSamples() == codes for p in prims)
    report.check(alike and bool(codes) and codes[0] == stage.GetStartTimeCode()
                 and codes[-1] == stage.GetEndTimeCode(), f"{len(codes)} time samples from start to end code")
    if not codes:
        return
    for prim in prims:
        verify_usd_material(prim, report)
        verify_usd_extents(prim, codes, report)
        if prim.IsA(UsdGeom.Mesh):
            verify_usd_mesh(prim, codes, report)
    if args.pc2:
        cache = Cache(args.pc2)
        report.check(len(cache.points) == len(codes) and cache.start == codes[0],
                     f"PC2 has {len(cache.points)} samples from frame {cache.start:g}")
        for k in cache.chosen():
            report.check(k < len(codes) and cache.frame(k) == codes[k] and same(usd_points(prims, codes[k]), cache.points[k]),
                         f"frame {codes[k]:g}: USD and PC2 have the same {cache.points.shape[1]} points, bit for bit")
    if args.obj:
        verify_usd_with_obj(args, prims, codes, report)


def verify_usd_with_obj(args, prims, codes, report):
    import numpy as np
    from pxr import UsdGeom
    meshes = [UsdGeom.Mesh(p) for p in prims if p.IsA(UsdGeom.Mesh)]
    counts = [n for m in meshes for n in m.GetFaceVertexCountsAttr().Get()]
    for k in first_middle_last(len(codes)):
        path = numbered(Path(args.obj), codes[k])
        obj = Obj(path)
        report.check(same(usd_points(prims, codes[k]), obj.vertices),
                     f"frame {codes[k]:g}: USD and {path.name} have the same {len(obj.vertices)} points, bit for bit")
        report.check(len(obj.names) == len(prims), f"frame {codes[k]:g}: {path.name} has the {len(prims)} bodies")
        # One of the two may have cut polygons into triangles.
        triangles = lambda sizes: sum(n - 2 for n in sizes)
        report.check(triangles(obj.sizes) == triangles(counts),
                     f"frame {codes[k]:g}: {len(obj.sizes)} faces there, {len(counts)} in USD, which are the same surface")
    first, used = 0, []
    for p in prims:
        if p.IsA(UsdGeom.Mesh):
            used.append(np.array(UsdGeom.Mesh(p).GetFaceVertexIndicesAttr().Get()) + first)
        first += len(UsdGeom.PointBased(p).GetPointsAttr().Get(codes[0]))
    report.check(not used or np.array_equal(np.unique(np.concatenate(used)), np.unique(obj.corners)),
                 "faces use the same vertices in both")


def verify_usdz(args, report):
    """The package: stored, aligned, and the same scene as the text."""
    import zipfile
    from pxr import Sdf, Usd, UsdGeom
    package = Sdf.ZipFile.Open(args.usdz) if hasattr(Sdf, "ZipFile") else Usd.ZipFile.Open(args.usdz)
    if not report.check(bool(package), f"USD opens the package {args.usdz}"):
        return
    for name in package.GetFileNames():
        info = package.GetFileInfo(name)
        report.check(info.dataOffset % 64 == 0 and info.compressionMethod == 0 and not info.encrypted,
                     f"{name} is stored at byte {info.dataOffset}, a multiple of 64")
    report.check(zipfile.ZipFile(args.usdz).testzip() is None, "Python's zipfile finds the checksums right")
    stage = Usd.Stage.Open(args.usdz)
    if not report.check(bool(stage), "the stage in it opens"):
        return
    validate(stage, args.usdz, report)
    if args.usda:
        text = Usd.Stage.Open(args.usda)
        ours, theirs = usd_prims(stage), usd_prims(text)
        report.check([p.GetPath() for p in ours] == [p.GetPath() for p in theirs], "it has the prims of the text")
        codes = UsdGeom.PointBased(theirs[0]).GetPointsAttr().GetTimeSamples()
        report.check(all(same(usd_points(ours, codes[k]), usd_points(theirs, codes[k]))
                         for k in first_middle_last(len(codes))), "and its points at first, middle and last frame")


# --- meshio, pyvista, trimesh -----------------------------------------------------------------------------------

def verify_vtu(args, report):
    """The series by ParaView's own library (through pyvista) and by meshio."""
    import meshio
    import numpy as np
    import pyvista
    reader = pyvista.get_reader(args.vtu)
    times = reader.time_values
    report.check(len(times) > 0 and (np.diff(times) > 0).all(), f"pyvista reads {len(times)} times from {args.vtu}")
    files = [d.path for d in reader.datasets]
    topology = None
    for k in first_middle_last(len(times)):
        reader.set_active_time_point(k)
        grid = reader.read()[0]
        path = Path(args.vtu).with_name(Path(files[k]).name)
        mesh = meshio.read(path)
        fields = sorted(mesh.point_data)
        report.check(same(np.asarray(grid.points, "f4"), mesh.points.astype("f4"))
                     and all(same(np.asarray(grid.point_data[f]).reshape(-1), mesh.point_data[f].reshape(-1)) for f in fields),
                     f"{path.name}: pyvista and meshio read the same {len(mesh.points)} points and {', '.join(fields)}")
        cells = [(c.type, c.data.tolist()) for c in mesh.cells]
        report.check(sum(len(d) for _, d in cells) == grid.n_cells and topology in (None, cells),
                     f"{path.name}: {grid.n_cells} cells, " + ", ".join(sorted({t for t, _ in cells})))
        topology = cells
        if not args.pc2:
            continue
        # Particles are not the vertices of render meshes, but a body whose points are its particles has both.
        cache = Cache(args.pc2)
        shown = {p.tobytes() for p in cache.points[k]}
        common = sum(p.tobytes() in shown for p in mesh.points.astype("<f4"))
        if args.surface:
            report.check(same(mesh.points.astype("f4"), cache.points[k]), f"{path.name} has the points of the PC2, bit for bit")
        else:
            print(f"    {common} of {len(mesh.points)} particles are render vertices at the PC2's places, bit for bit")
            report.check(common > 0 or not args.common, f"{path.name}: particles that are vertices are where the PC2 has them")


def verify_ply(args, report):
    import meshio
    cache = Cache(args.pc2)
    for k in cache.chosen():
        path = numbered(Path(args.ply), cache.frame(k))
        mesh = meshio.read(path)
        report.check(same(mesh.points.astype("f4"), cache.points[k]),
                     f"meshio: {path.name} has the {len(mesh.points)} points of the PC2, bit for bit")


def verify_obj(args, report):
    import trimesh
    cache = Cache(args.pc2)
    for k in cache.chosen():
        path = numbered(Path(args.obj), cache.frame(k))
        obj = Obj(path)
        report.check(same(obj.vertices, cache.points[k]),
                     f"{path.name} has the {len(obj.vertices)} points of the PC2, bit for bit")
        scene = trimesh.load(path, process=False, force="scene", split_object=True, group_material=False)
        faces = sum(len(g.faces) for g in scene.geometry.values() if hasattr(g, "faces"))
        report.check(faces == sum(n - 2 for n in obj.sizes), f"trimesh reads {faces} triangles from {path.name}")


def verify_msh(args, report):
    import meshio
    mesh = meshio.read(args.msh)
    kinds = {c.type: len(c.data) for c in mesh.cells}
    report.check(kinds.get("tetra", 0) > 0, f"meshio reads {len(mesh.points)} points and {kinds} from {args.msh}")


# --- Blender ----------------------------------------------------------------------------------------------------

def blender_positions(obj):
    """Local positions of an object as it is shown in the present frame."""
    import bpy
    import numpy as np
    data = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    attribute = data.attributes["position"].data
    out = np.empty(3 * len(attribute), "f4")
    attribute.foreach_get("vector", out)
    return out.reshape(-1, 3)


def blender_carrier(scene, cache, kind, path):
    """A mesh without faces as long as the cache, moved by the Mesh Cache modifier."""
    import bpy
    mesh = bpy.data.meshes.new(kind)
    mesh.vertices.add(cache.points.shape[1])
    carrier = bpy.data.objects.new(kind, mesh)
    scene.collection.objects.link(carrier)
    modifier = carrier.modifiers.new("cache", "MESH_CACHE")
    modifier.cache_format = kind
    modifier.filepath = os.path.abspath(path)
    modifier.frame_start = cache.start
    return carrier


def blender_cache(cache, kind, path, report):
    import bpy
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    carrier = blender_carrier(scene, cache, kind, path)
    for k in cache.chosen():
        # Blender takes samples for frames one after the other, whatever rate or times the file names.
        scene.frame_set(int(cache.start + k))
        report.check(same(blender_positions(carrier), cache.points[k]),
                     f"Blender's Mesh Cache shows sample {k} of the {kind}, bit for bit")


def verify_blender_pc2(args, report):
    blender_cache(Cache(args.pc2), "PC2", args.pc2, report)


def verify_blender_mdd(args, report):
    blender_cache(Cache(args.pc2), "MDD", args.mdd, report)


def verify_blender_usd(args, report):
    import bpy
    cache = Cache(args.pc2)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.usd_import(filepath=os.path.abspath(args.usda), set_frame_range=True)
    scene = bpy.context.scene
    last = cache.frame(len(cache.points) - 1)
    report.check(scene.frame_start == cache.start and scene.frame_end == last,
                 f"Blender's frame range is {scene.frame_start}..{scene.frame_end}")
    objects = [o for o in bpy.data.objects if o.type in ("MESH", "POINTCLOUD")]
    for o in objects:
        slots = [s.material.name for s in o.material_slots if s.material]
        layers = [l.name for l in o.data.uv_layers] if o.type == "MESH" else []
        print(f"    {o.name} ({o.type}), materials: {', '.join(slots)}; coordinates: {', '.join(layers) or 'none'}")
        if o.type != "MESH":
            continue  # Blender gives point clouds from USD no material.
        used = {p.material_index for p in o.data.polygons}
        report.check(used == set(range(len(slots))), f"Blender: {o.name} has faces of its {len(slots)} materials")
        # Normals the file has are kept as they are, not computed anew.
        report.check(o.data.has_custom_normals, f"Blender: {o.name} has the normals of the file")
    # Blender lists objects by its own order: find each body's slice of the cache by its first frame.
    scene.frame_set(int(cache.start))
    slices = {}
    for o in objects:
        first = blender_positions(o)
        n = len(first)
        slices[o.name] = next((k for k in range(cache.points.shape[1] - n + 1)
                               if n and same(cache.points[0, k:k + n], first)), None)
        report.check(slices[o.name] is not None, f"{o.name}: {n} points of the first frame found in the cache")
    report.check(sum(len(blender_positions(o)) for o in objects) == cache.points.shape[1],
                 f"Blender shows all {cache.points.shape[1]} points")
    for k in cache.chosen():
        scene.frame_set(int(cache.frame(k)))
        for o in objects:
            if slices[o.name] is None:
                continue
            shown = blender_positions(o)
            report.check(same(shown, cache.points[k, slices[o.name]:slices[o.name] + len(shown)]),
                         f"frame {scene.frame_current}: Blender shows {o.name} from USD at the PC2's points, bit for bit")


def verify_blender_upright(args, report):
    """y of the file is up in Blender, from USD as from OBJ: what docs/exports.md says of --for blender."""
    import bpy
    import numpy as np

    def heights():
        found = []
        for o in bpy.data.objects:
            if o.type == "MESH":
                world = np.array(o.matrix_world)
                local = blender_positions(o)
                found.append((local @ world[:3, :3].T + world[:3, 3])[:, 2])
        return np.sort(np.concatenate(found)) if found else np.empty(0)

    cache = Cache(args.pc2)
    path = numbered(Path(args.obj), cache.start)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.obj_import(filepath=os.path.abspath(path))
    bpy.context.view_layer.update()
    from_obj = heights()
    used = np.unique(Obj(path).corners).astype(int)
    report.check(len(from_obj) == len(used) and np.allclose(from_obj, np.sort(cache.points[0][used, 1]), atol=1e-5),
                 "what is y in the OBJ is z in Blender")
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.usd_import(filepath=os.path.abspath(args.usda))
    bpy.context.scene.frame_set(int(cache.start))
    from_usd = heights()
    report.check(len(from_usd) == len(from_obj) and np.allclose(from_usd, from_obj, atol=1e-5), "and so it is from USD")


def verify_blender_obj(args, report):
    import bpy
    import numpy as np
    cache = Cache(args.pc2)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    for k in cache.chosen():
        path = numbered(Path(args.obj), cache.frame(k))
        before = set(bpy.data.objects)
        # The axes of the file, not Blender's, so that numbers can be compared.
        bpy.ops.wm.obj_import(filepath=os.path.abspath(path), forward_axis="Y", up_axis="Z")
        shown = [blender_positions(o) for o in bpy.data.objects if o not in before]
        shown = np.concatenate(shown) if shown else np.empty((0, 3), "f4")
        # Blender sorts objects by name, so compare as sets, and it has no point elements.
        obj = Obj(path)
        used = np.unique(obj.corners).astype(int)
        report.check(len(shown) == len(used)
                     and same(np.unique(shown, axis=0), np.unique(cache.points[k][used], axis=0)),
                     f"Blender imports {path.name} with the {len(shown)} points of the PC2 that have faces, "
                     f"bit for bit ({len(obj.vertices) - len(used)} points of clouds are not imported)")


# --- what is checked where --------------------------------------------------------------------------------------

# Environment, check, and the arguments it cannot do without. A check of another format is a function
# verify_…(args, report) above and a line here; a library it needs is an environment at the top.
CHECKS = [
    ("usd", verify_usd, ["usda"]),
    ("usd", verify_usdz, ["usdz"]),
    ("mesh", verify_mdd, ["mdd", "pc2"]),
    ("mesh", verify_vtu, ["vtu"]),
    ("mesh", verify_obj, ["obj", "pc2"]),
    ("mesh", verify_ply, ["ply", "pc2"]),
    ("mesh", verify_msh, ["msh"]),
    ("blender", verify_blender_pc2, ["pc2"]),
    ("blender", verify_blender_mdd, ["mdd", "pc2"]),
    ("blender", verify_blender_usd, ["usda", "pc2"]),
    ("blender", verify_blender_obj, ["obj", "pc2"]),
    ("blender", verify_blender_upright, ["usda", "obj", "pc2"]),
]


def run_inside(environment, args):
    """All checks of an environment, in its interpreter. One that breaks does not keep the others from running."""
    report = Report()
    for where, check, needs in CHECKS:
        if where != environment or any(getattr(args, n) is None for n in needs):
            continue
        print(f"-- {check.__name__}")
        try:
            check(args, report)
        except Exception as e:
            report.check(False, f"{check.__name__}: {type(e).__name__}: {e}")
    return report.failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in FORMATS:
        parser.add_argument("--" + name, help="as named at export: of a series without the number")
    parser.add_argument("--surface", action="store_true", help="the VTU files hold the render surface")
    parser.add_argument("--common", action="store_true", help="some particles are render vertices themselves")
    parser.add_argument("--without", action="append", default=[], choices=list(ENVIRONMENTS), help="leave this one out")
    parser.add_argument("--environments", help="where to keep the virtual environments")
    args = parser.parse_args()

    inside = os.environ.get(INSIDE)
    if inside:
        sys.exit(1 if run_inside(inside, args) else 0)

    given = [n for n in FORMATS if getattr(args, n) is not None]
    if not given:
        parser.error("name at least one file")
    for name in given:
        path = getattr(args, name)
        if name not in ("obj", "ply") and not Path(path).is_file():
            parser.error(f"{path}: no such file")
    home = Path(args.environments or Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "pliant-verify")
    failed, checked = [], set()
    for name in ENVIRONMENTS:
        wanted = [(check, needs) for where, check, needs in CHECKS
                  if where == name and all(getattr(args, n) is not None for n in needs)]
        if not wanted:
            continue
        if name in args.without:
            print(f"skipped: {name}: it was to be left out")
            continue
        python, why = python_with(name, home / name)
        if python is None:
            print(f"skipped: {name}: {why}")
            continue
        print(f"== {name}: {', '.join(ENVIRONMENTS[name][0])}", flush=True)
        command = [str(python), os.path.abspath(__file__), *sys.argv[1:]]
        if subprocess.run(command, env={**os.environ, INSIDE: name}).returncode != 0:
            failed.append(name)
        checked.update(n for _, needs in wanted for n in needs)
    for name in given:
        if name not in checked:
            print(f"skipped: --{name} {getattr(args, name)}: nothing could look at it")
    print(f"failed: {', '.join(failed)}" if failed else "all that was checked passed" if checked else "nothing was checked")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
