"""USD: Pixar's validators; prims, materials, positions, normals."""

from .common import Cache, Obj, first_middle_last, numbered, same, split


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
    report.names("USD", "scene", [p.GetDisplayName() for p in prims])
    report.names("USD", "identifiers", [p.GetName() for p in prims])
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
    """Positions and faces, which are the same in all frames."""
    from pxr import UsdGeom
    first, faces = 0, []
    for p in prims:
        if p.IsA(UsdGeom.Mesh):
            mesh = UsdGeom.Mesh(p)
            own = split(mesh.GetFaceVertexIndicesAttr().Get(), mesh.GetFaceVertexCountsAttr().Get())
            faces += [[v + first for v in f] for f in own]
        first += len(UsdGeom.PointBased(p).GetPointsAttr().Get(codes[0]))
    for k in first_middle_last(len(codes)):
        path = numbered(args.obj, codes[k])
        obj = Obj(path)
        report.check(same(usd_points(prims, codes[k]), obj.vertices),
                     f"frame {codes[k]:g}: USD and {path.name} have the same {len(obj.vertices)} points, bit for bit")
        report.check(faces == obj.faces, f"frame {codes[k]:g}: and the same {len(faces)} faces")


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
