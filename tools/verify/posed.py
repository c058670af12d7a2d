"""A run with rigid bodies against where their vertices have to be in each of its frames (--posed): transforms that other programs
apply to a shape at rest, and points where the format has none."""

import os
import struct
from pathlib import Path

from .changing import Told, points_of, shown_scale
from .common import read_pc2
from .glb import Glb


def near(shown, wanted):
    """Whether points are where they have to be: a transform in numbers of 32 bits rounds in another place than points do."""
    import numpy as np
    if shown.shape != wanted.shape:
        return False
    return not len(wanted) or float(np.abs(shown - wanted).max()) <= 16 * np.finfo("f4").eps * max(1.0, float(np.abs(wanted).max()))


def placed(points, matrix):
    """Points under a matrix that is multiplied from the left."""
    import numpy as np
    return np.asarray(points, "f8") @ matrix[:3, :3].T + matrix[:3, 3]


def is_rigid(body):
    return body["name"] != "soft box \"1\""


def verify_posed_usd(args, report):
    """The shape of a rigid body is there once, and its transform takes it to its vertices."""
    import numpy as np
    from pxr import Usd, UsdGeom
    from .usd import usd_prims, validate
    told = Told(args.posed)
    for path in (args.usda, args.usdz):
        stage = Usd.Stage.Open(path)
        validate(stage, path, report)
        prims = dict(zip(told.bodies, usd_prims(stage)))
        report.check(len(usd_prims(stage)) == len(told.bodies), f"{path}: {len(prims)} bodies")
        for k, frame in enumerate(told.frames):
            code, problems = frame["number"], []
            for id, body in told.present(k).items():
                world = np.array(UsdGeom.Xformable(prims[id]).ComputeLocalToWorldTransform(code)).T
                points = np.array(UsdGeom.PointBased(prims[id]).GetPointsAttr().Get(code), "f4").reshape(-1, 3)
                if not near(placed(points, world), points_of(body)):
                    problems.append(body["name"])
            for id, prim in prims.items():
                visible = UsdGeom.Imageable(prim).ComputeVisibility(code) != UsdGeom.Tokens.invisible
                if visible != (id in told.present(k)):
                    problems.append(f"{prim.GetName()}: visibility")
            report.check(not problems, f"frame {k}: USD has {len(frame['bodies'])} bodies where they are {problems}")
        for id, life in told.bodies.items():
            points = UsdGeom.PointBased(prims[id]).GetPointsAttr().GetTimeSamples()
            moves = UsdGeom.Xformable(prims[id]).GetTimeSamples()
            ok = len(points) <= 1 and len(moves) >= len(life.frames) if is_rigid({"name": life.name}) else len(points) > 1
            report.check(ok, f"{life.name}: {len(points)} samples of points and {len(moves)} of its transform")


def verify_posed_caches(args, report):
    """PC2 and MDD have no transforms: all vertices of every frame."""
    import numpy as np
    told = Told(args.posed)
    wanted = np.stack([np.concatenate([b.fixed(k) for b in told.bodies.values()]) for k in range(len(told.frames))])
    report.check(near(read_pc2(args.pc2)[2], wanted), "PC2: rigid bodies are where they are, as points")
    data = Path(args.mdd).read_bytes()
    frames, points = struct.unpack_from(">ii", data)
    values = np.frombuffer(data, ">f4", offset=8 + 4 * frames).reshape(frames, points, 3).astype("f4")
    report.check(near(values, wanted), "MDD: the same")


def keyed(glb, node, path, second):
    """What a node has of this at a time that is one of its keys; its own if it has no keys."""
    import numpy as np
    for channel in glb.clip["channels"] if glb.clip else []:
        if channel["target"] == {"node": node, "path": path}:
            sampler = glb.clip["samplers"][channel["sampler"]]
            times, values = glb.accessor(sampler["input"]).ravel(), glb.accessor(sampler["output"])
            return values[int(np.abs(times - second).argmin())].astype("f8")
    return np.array(glb.document["nodes"][node].get(path, {"translation": [0, 0, 0], "rotation": [0, 0, 0, 1]}[path]), "f8")


def turned(q, points):
    """Points turned by a quaternion (x, y, z, w)."""
    import numpy as np
    axis, w = q[:3], q[3]
    return points + 2.0 * np.cross(axis, np.cross(axis, points) + w * points)


def verify_posed_glb(args, report):
    """Translations and rotations of nodes, by the specification; trimesh reads it."""
    import numpy as np
    import trimesh
    glb, told = Glb(args.glb), Told(args.posed)
    scene = trimesh.load(args.glb, process=False)
    report.check(len(scene.geometry) > 0, f"trimesh has {len(scene.geometry)} parts")
    numbers = [n for n, node in enumerate(glb.document["nodes"]) if "mesh" in node]
    for k in range(len(told.frames)):
        second, problems = k / told.rate, []
        for id, body in told.present(k).items():
            if not is_rigid(body):
                continue
            at = list(told.bodies).index(id)
            node, parts = numbers[at], glb.parts[at]
            if any("targets" in part for part in parts):
                problems.append(f"{body['name']}: it deforms")
            points = np.concatenate([glb.points(part, 0) for part in parts]).astype("f8")
            shown = turned(keyed(glb, node, "rotation", second), points) + keyed(glb, node, "translation", second)
            # Vertices may be split at hard edges: every one of them is one of the body's, and none of these is missing.
            wanted = points_of(body).astype("f8")
            apart = np.linalg.norm(shown[:, None] - wanted[None], axis=2)
            if apart.min(1).max() > 1e-5 or apart.min(0).max() > 1e-5:
                problems.append(f"{body['name']}: {apart.min(1).max():.1e}")
            if shown_scale(glb, node, second) != 1.0:
                problems.append(f"{body['name']}: scale")
        report.check(not problems, f"frame {k}: GLB turns and moves rigid bodies to where they are {problems}")


def verify_posed_alembic(args, report):
    """What the Alembic library makes of transforms over shapes."""
    import imath  # noqa: F401  (the types of the arrays)
    import numpy as np
    from alembic3d import Abc, AbcGeom
    from .alembic import triples
    told = Told(args.posed)
    children = list(Abc.IArchive(args.abc).getTop().children)
    report.check(len(children) == len(told.bodies), "Alembic: " + ", ".join(c.getName() for c in children))
    for k, frame in enumerate(told.frames):
        selector, problems = Abc.ISampleSelector(frame["number"] / told.rate), []
        for id, child in zip(told.bodies, children):
            if id not in told.present(k):
                continue
            matrix = AbcGeom.IXform(child.getParent(), child.getName()).getSchema().getValue(selector).getMatrix()
            world = np.array([[matrix[r][c] for c in range(4)] for r in range(4)], "f8").T
            below = child.children[0]
            kind = AbcGeom.IPolyMesh if AbcGeom.IPolyMesh.matches(below.getHeader()) else AbcGeom.IPoints
            schema = kind(child, below.getName()).getSchema()
            body = told.present(k)[id]
            if not near(placed(triples(schema.getValue(selector).getPositions()), world), points_of(body)):
                problems.append(body["name"])
            if is_rigid(body) and not schema.isConstant():
                problems.append(f"{body['name']}: {schema.getNumSamples()} samples of its points")
        report.check(not problems, f"frame {k}: Alembic has {len(frame['bodies'])} bodies where they are {problems}")


def verify_blender_posed(args, report):
    """Where Blender shows every vertex, in the world."""
    import bpy
    import numpy as np
    told = Told(args.posed)
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
        # glTF counts its frames from where Blender begins.
        begin = 0
        for k, frame in enumerate(told.frames):
            scene.frame_set(frame["number"] + begin)
            graph, shown, problems = bpy.context.evaluated_depsgraph_get(), [], []
            for o in (o for o in bpy.data.objects if o.type == "MESH" and o.visible_get() and not o.hide_viewport):
                at = o.evaluated_get(graph)
                attribute = at.data.attributes["position"].data
                local = np.empty(3 * len(attribute), "f4")
                attribute.foreach_get("vector", local)
                world = placed(local.reshape(-1, 3), np.array(at.matrix_world, "f8"))
                # y of the file is z of Blender.
                shown.append(np.stack([world[:, 0], world[:, 2], -world[:, 1]], axis=1))
            for body in filter(is_rigid, told.present(k).values()):
                wanted = points_of(body).astype("f8")

                def off(points):
                    apart = np.linalg.norm(points[:, None] - wanted[None], axis=2)
                    return max(apart.min(1).max(), apart.min(0).max())
                worst = min((off(points) for points in shown if len(points)), default=float("inf"))
                if worst > 2e-5:
                    problems.append(f"{body['name']} by {worst:.1e} m")
            report.check(not problems, f"frame {k}: Blender shows rigid bodies of {kind} where they are {problems}")
