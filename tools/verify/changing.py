"""A run in which bodies come, go and are torn, against what has to be seen in each of its frames (--told)."""

import json
import os
import struct
from pathlib import Path

from .common import Obj, numbered, read_pc2, same, split
from .glb import Glb, key


class Told:
    """What sample_exports says is there: for each frame its bodies with names, faces and points."""

    def __init__(self, path):
        told = json.loads(Path(path).read_text())
        self.rate, self.frames = told["rate"], told["frames"]
        self.bodies = {}
        for k, frame in enumerate(self.frames):
            for body in frame["bodies"]:
                self.bodies.setdefault(body["id"], Life(body["name"])).add(k, body)

    def present(self, k):
        """The bodies of a frame by id."""
        return {b["id"]: b for b in self.frames[k]["bodies"]}


class Life:
    """A body over all frames."""

    def __init__(self, name):
        self.name, self.frames, self.versions = name, {}, {}

    def add(self, k, body):
        self.frames[k] = body
        self.versions[body["version"]] = body

    def last(self):
        return self.versions[max(self.versions)]

    def fixed(self, k):
        """Points in the topology it has at last; before it comes and after it is gone where it was next."""
        import numpy as np
        body = self.frames[min(max(k, min(self.frames)), max(self.frames))]
        vertices = np.arange(len(self.last()["points"]))
        for version in range(max(self.versions), body["version"], -1):
            vertices = np.array(self.versions[version]["origin"])[vertices]
        return points_of(body)[vertices]


def points_of(body):
    import numpy as np
    return np.array(body["points"], "f4").reshape(-1, 3)


def joined(bodies):
    """All points of some bodies one after the other, and their faces over these."""
    import numpy as np
    points, faces, first = [np.empty((0, 3), "f4")], [], 0
    for body in bodies:
        points.append(points_of(body))
        faces += [[v + first for v in f] for f in body["faces"]]
        first += len(body["points"])
    return np.concatenate(points), faces


def verify_changing_caches(args, report):
    """PC2 and MDD: every body in all frames, in its last topology."""
    import numpy as np
    told = Told(args.told)
    wanted = np.stack([np.concatenate([b.fixed(k) for b in told.bodies.values()]) for k in range(len(told.frames))])
    report.check(same(read_pc2(args.pc2)[2], wanted), "PC2: bodies wait where they come, stay where they went, split copies lie together")
    data = Path(args.mdd).read_bytes()
    frames, points = struct.unpack_from(">ii", data)
    values = np.frombuffer(data, ">f4", offset=8 + 4 * frames).reshape(frames, points, 3).astype("f4")
    report.check(same(values, wanted), "MDD: the same")


def verify_changing_sequences(args, report):
    """OBJ, PLY and VTU: each file has what is there in its frame."""
    import meshio
    import numpy as np
    import pyvista
    import trimesh
    told = Told(args.told)
    reader = pyvista.get_reader(args.vtu)
    report.check(len(reader.time_values) == len(told.frames), f"pyvista: {len(told.frames)} files in the PVD")
    numbers = {id: n for n, id in enumerate(told.bodies)}
    for k, frame in enumerate(told.frames):
        points, faces = joined(frame["bodies"])
        obj = Obj(numbered(args.obj, frame["number"]))
        ok = same(obj.vertices, points) and obj.faces == faces and len(obj.names) == len(frame["bodies"])
        scene = trimesh.load(numbered(args.obj, frame["number"]), process=False, force="scene", split_object=True,
                             group_material=False)
        count = sum(len(g.faces) for g in scene.geometry.values() if hasattr(g, "faces"))
        report.check(ok and count == obj.triangle_count(),
                     f"frame {k}: OBJ has {', '.join(obj.names)}: {len(faces)} faces, {count} triangles to trimesh")
        ply = meshio.read(numbered(args.ply, frame["number"]))
        own = sorted(f for block in ply.cells for f in block.data.tolist())
        bodies = [numbers[b["id"]] for b in frame["bodies"] for _ in b["points"]]
        report.check(same(ply.points.astype("f4"), points) and own == sorted(faces)
                     and ply.point_data["body"].tolist() == bodies, f"frame {k}: PLY has its {len(points)} points to meshio")
        reader.set_active_time_point(k)
        grid = reader.read()[0]
        particles = [numbers[b["id"]] for b in frame["bodies"] for _ in range(b["particles"])]
        cloth = next(b for b in frame["bodies"] if b["id"] == 1)
        of_cloth = np.asarray(grid.points, "f4")[np.asarray(grid.point_data["body"]) == 1]
        report.check(np.asarray(grid.point_data["body"]).tolist() == particles and same(of_cloth, points_of(cloth)),
                     f"frame {k}: VTU has its {len(particles)} particles to pyvista, those of the cloth where it is")


def verify_changing_usd(args, report):
    """Visibility, topology, points and primvars at every frame."""
    import numpy as np
    from pxr import Usd, UsdGeom
    from .usd import usd_prims, validate
    told = Told(args.told)
    for path in (args.usda, args.usdz):
        stage = Usd.Stage.Open(path)
        validate(stage, path, report)
        prims = usd_prims(stage)
        report.check([p.GetDisplayName() for p in prims] == [b.name for b in told.bodies.values()],
                     f"{path}: " + ", ".join(p.GetName() for p in prims))
        for k, frame in enumerate(told.frames):
            code, there, problems = frame["number"], told.present(k), []
            for (id, _), prim in zip(told.bodies.items(), prims):
                visible = UsdGeom.Imageable(prim).ComputeVisibility(code) != UsdGeom.Tokens.invisible
                if visible != (id in there):
                    problems.append(f"{prim.GetName()} is {'' if visible else 'in'}visible")
                if id in there:
                    problems += usd_problems(prim, code, there[id])
            report.check(not problems, f"frame {k}: {len(there)} bodies are there with their faces and points {problems}")
    # Copies have their faces in common.
    stage = Usd.Stage.Open(args.usda)
    prims = {id: p for id, p in zip(told.bodies, usd_prims(stage))}
    arcs = {id: [str(a.GetTargetPrimPath()) for a in Usd.PrimCompositionQuery.GetDirectInherits(p).GetCompositionArcs()]
            for id, p in prims.items()}
    report.check(arcs[0] == arcs[3] == arcs[4] != [] and arcs[1] == [], f"copies inherit one shape, {arcs[0]}")
    times = {id: UsdGeom.PointBased(p).GetPointsAttr().GetTimeSamples() for id, p in prims.items()}
    lives = {id: [float(told.frames[k]["number"]) for k in sorted(b.frames)] for id, b in told.bodies.items()}
    report.check(times == lives, "each has samples of the frames it is in")
    topology = UsdGeom.Mesh(prims[1]).GetFaceVertexIndicesAttr().GetTimeSamples()
    report.check(topology == [0.0, 5.0, 6.0], f"the cloth has other faces from frames {topology}")


def usd_problems(prim, code, body):
    import numpy as np
    from pxr import UsdGeom
    name, problems = prim.GetName(), []
    points = np.array(UsdGeom.PointBased(prim).GetPointsAttr().Get(code), "f4").reshape(-1, 3)
    if not same(points, points_of(body)):
        problems.append(f"{name}: points")
    boundable = UsdGeom.Boundable(prim)
    if not np.allclose(boundable.GetExtentAttr().Get(code), UsdGeom.Boundable.ComputeExtentFromPlugins(boundable, code), atol=1e-6):
        problems.append(f"{name}: extent")
    if not prim.IsA(UsdGeom.Mesh):
        return problems
    mesh = UsdGeom.Mesh(prim)
    indices, counts = mesh.GetFaceVertexIndicesAttr().Get(code), mesh.GetFaceVertexCountsAttr().Get(code)
    if split(indices, counts) != body["faces"]:
        problems.append(f"{name}: faces")
    sizes = {"constant": 1, "uniform": len(counts), "vertex": len(points), "varying": len(points), "faceVarying": len(indices)}
    for primvar in UsdGeom.PrimvarsAPI(prim).GetPrimvarsWithValues():
        values = primvar.ComputeFlattened(code)
        if values is None or len(values) != sizes[primvar.GetInterpolation()]:
            problems.append(f"{name}: {primvar.GetPrimvarName()}")
    if not UsdGeom.PrimvarsAPI(prim).HasPrimvar("normals") and len(mesh.GetNormalsAttr().Get(code)) != len(points):
        problems.append(f"{name}: normals")
    for subset in UsdGeom.Subset.GetAllGeomSubsets(mesh):
        if any(i >= len(counts) for i in subset.GetIndicesAttr().Get(code)):
            problems.append(f"{name}: {subset.GetPrim().GetName()}")
    return problems


def verify_changing_alembic(args, report):
    """What the Alembic library sees at every frame."""
    import imath  # noqa: F401  (the types of the arrays)
    from alembic3d import Abc, AbcGeom
    from .alembic import triples
    told = Told(args.told)
    top = Abc.IArchive(args.abc).getTop()
    bodies = []
    for child in top.children:
        mesh = AbcGeom.IPolyMesh.matches(child.children[0].getHeader())
        kind = AbcGeom.IPolyMesh if mesh else AbcGeom.IPoints
        bodies.append((child, kind(child, child.children[0].getName()).getSchema(), mesh))
    report.check(len(bodies) == len(told.bodies), "Alembic: " + ", ".join(c.getName() for c, _, _ in bodies))
    for k, frame in enumerate(told.frames):
        there, problems = told.present(k), []
        selector = Abc.ISampleSelector(frame["number"] / told.rate)
        for id, (child, schema, mesh) in zip(told.bodies, bodies):
            visible = AbcGeom.GetVisibility(child, selector) != AbcGeom.ObjectVisibility.kVisibilityHidden
            if visible != (id in there):
                problems.append(f"{child.getName()} is {'' if visible else 'not '}visible")
            if id not in there:
                continue
            sample = schema.getValue(selector)
            if not same(triples(sample.getPositions()), points_of(there[id])):
                problems.append(f"{child.getName()}: points")
            if mesh:
                faces = split(list(sample.getFaceIndices()), list(sample.getFaceCounts()))
                if [f[::-1] for f in faces] != there[id]["faces"]:
                    problems.append(f"{child.getName()}: faces")
                uvs = schema.getUVsParam()
                corners = sum(map(len, faces))
                if uvs.valid() and len(uvs.getExpandedValue(selector).getVals()) != corners:
                    problems.append(f"{child.getName()}: texture coordinates")
        report.check(not problems, f"frame {k}: {len(there)} bodies are there with their faces and points {problems}")
    counts = [schema.getNumSamples() for _, schema, _ in bodies]
    report.check(counts == [len(b.frames) for b in told.bodies.values()], f"samples of the frames each is in: {counts}")


def shown_scale(glb, node, second):
    """The scale of a node at a time, by its step keys."""
    import numpy as np
    for channel in glb.clip["channels"]:
        if channel["target"] == {"node": node, "path": "scale"}:
            sampler = glb.clip["samplers"][channel["sampler"]]
            times, scales = glb.accessor(sampler["input"]).ravel(), glb.accessor(sampler["output"])
            return scales[np.searchsorted(times, second + 1e-4) - 1][0] if sampler["interpolation"] == "STEP" else None
    return 1.0


def verify_changing_glb(args, report):
    """The file by its specification: scales of nodes, morph targets over the last topology, shared accessors."""
    import numpy as np
    import trimesh
    glb, told = Glb(args.glb), Told(args.told)
    report.check(glb.names == [b.name for b in told.bodies.values()], f"GLB: {', '.join(glb.names)}")
    scene = trimesh.load(args.glb, process=False)
    report.check(len(scene.geometry) == sum(map(len, glb.parts)), f"trimesh has {len(scene.geometry)} parts")
    for k in range(len(told.frames)):
        second, problems = k / told.rate, []
        for (id, body), parts, name in zip(told.bodies.items(), glb.parts, glb.names):
            node = next(n for n, d in enumerate(glb.document["nodes"]) if d is glb.nodes[glb.names.index(name)])
            node = glb.document["nodes"].index(glb.nodes[list(told.bodies).index(id)])
            if shown_scale(glb, node, second) != (1.0 if k in body.frames else 0.0):
                problems.append(f"{name}: scale")
            if k not in body.frames:
                continue
            own = k - min(body.frames)
            wanted, at = {}, body.fixed(min(body.frames))
            for v, point in enumerate(at):
                wanted.setdefault(key(point), []).append(body.fixed(k)[v])
            for part in parts:
                for first, now in zip(glb.points(part, 0), glb.points(part, own)):
                    if not any(np.abs(now - p).max() < 1e-5 for p in wanted.get(key(first), [])):
                        problems.append(f"{name}: points")
                        break
        report.check(not problems, f"frame {k}: GLB shows what is there, where it is {problems}")
    for id, parts in zip(told.bodies, glb.parts):
        faces = told.bodies[id].last()["faces"]
        if faces:
            count = sum(len(glb.triangles(p)) for p in parts)
            report.check(count == sum(len(f) - 2 for f in faces), f"{told.bodies[id].name}: {count} triangles")
    shared = [[(p.get("indices"), p["attributes"].get("TEXCOORD_0")) for p in parts] for parts in glb.parts]
    report.check(shared[0] == shared[3] == shared[4] != shared[1], f"copies share indices and texture coordinates: {shared[0]}")


def blender_shown():
    """What Blender shows in the present frame: for each object that is there and has any size, its points as the file has
    them (y up) and its faces."""
    import bpy
    import numpy as np
    graph, found = bpy.context.evaluated_depsgraph_get(), {}
    for o in bpy.data.objects:
        if o.type not in ("MESH", "POINTCLOUD"):
            continue
        shown = o.evaluated_get(graph)
        if o.hide_render or o.hide_viewport or not o.visible_get() or min(abs(s) for s in shown.matrix_world.to_scale()) == 0:
            continue
        attribute = shown.data.attributes["position"].data
        out = np.empty(3 * len(attribute), "f4")
        attribute.foreach_get("vector", out)
        faces = [list(p.vertices) for p in shown.data.polygons] if o.type == "MESH" else []
        if len(attribute):
            found[o.name] = (out.reshape(-1, 3), faces)
    return found


def verify_blender_changing(args, report):
    """USD and Alembic as Blender plays them: bodies, topology and points of first, middle and last frames, and around what
    happens; GLB: which bodies are there."""
    import bpy
    import numpy as np
    told = Told(args.told)
    importers = {
        "USD": lambda: bpy.ops.wm.usd_import(filepath=os.path.abspath(args.usda)),
        "Alembic": lambda: bpy.ops.wm.alembic_import(filepath=os.path.abspath(args.abc), as_background_job=False),
        "glTF": lambda: bpy.ops.import_scene.gltf(filepath=os.path.abspath(args.glb)),
    }
    for kind, load in importers.items():
        bpy.ops.wm.read_factory_settings(use_empty=True)
        scene = bpy.context.scene
        scene.render.fps, scene.render.fps_base = round(told.rate), 1.0
        load()
        for k, frame in enumerate(told.frames):
            scene.frame_set(frame["number"])
            shown, wanted, problems = blender_shown(), told.present(k), []
            if kind == "glTF":
                report.check(len(shown) == len(wanted), f"frame {k}: Blender shows {len(shown)} bodies of glTF")
                continue
            left = list(shown.values())
            for body in wanted.values():
                points = points_of(body)
                turned = np.stack([points[:, 0], -points[:, 2], points[:, 1]], axis=1) if kind == "Alembic" else points
                match = next((n for n, (p, f) in enumerate(left)
                              if p.shape == turned.shape and np.array_equal(p + np.float32(0), turned + np.float32(0)) and f == body["faces"]), None)
                if match is None:
                    problems.append(body["name"])
                else:
                    left.pop(match)
            report.check(not problems and not left,
                         f"frame {k}: Blender shows {len(shown)} bodies of {kind}"
                         + (f", without {problems}, {len(left)} that should not be there" if problems or left else ""))
