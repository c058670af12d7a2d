"""glTF: the file by its specification, by trimesh, and as Blender plays it."""

import json
import os
import struct
from pathlib import Path

from .common import Cache, Obj, numbered


class Glb:
    """The JSON of a GLB file and its accessors as arrays."""

    def __init__(self, path):
        self.data = Path(path).read_bytes()
        magic, version, length, json_length, kind = struct.unpack_from("<4sII I4s", self.data)
        if magic != b"glTF" or version != 2 or length != len(self.data) or kind != b"JSON":
            raise ValueError(f"{path}: not a GLB file of version 2")
        self.document = json.loads(self.data[20:20 + json_length])
        self.body = 28 + json_length
        self.nodes = [n for n in self.document["nodes"] if "mesh" in n]
        self.names = [n.get("name", "") for n in self.nodes]
        # For each node the parts of its mesh.
        self.parts = [self.document["meshes"][n["mesh"]]["primitives"] for n in self.nodes]
        self.clip = self.document.get("animations", [None])[0]

    def accessor(self, index):
        import numpy as np
        a = self.document["accessors"][index]
        view = self.document["bufferViews"][a["bufferView"]]
        start = self.body + view["byteOffset"] + a["byteOffset"]
        width = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}[a["type"]]
        kind = {5123: "<u2", 5125: "<u4", 5126: "<f4"}[a["componentType"]]
        return np.frombuffer(self.data, kind, a["count"] * width, start).reshape(a["count"], width)

    def times(self):
        import numpy as np
        return self.accessor(self.clip["samplers"][0]["input"]).ravel() if self.clip else np.zeros(1, "f4")

    def points(self, part, k):
        """Points of a part at a frame: those of the first, and the way from there."""
        import numpy as np
        first = self.accessor(part["attributes"]["POSITION"])
        return first + (self.accessor(part["targets"][k - 1]["POSITION"]) if k else np.float32(0))

    def triangles(self, part):
        return self.accessor(part["indices"]).reshape(-1, 3) if "indices" in part else []


def key(point):
    """Bytes of a point; zero has but one sign."""
    import numpy as np
    return (point + np.float32(0)).astype("f4").tobytes()


def farthest(frames, cache):
    """How far points at some frames are from the cache's, which may have them once where here they are split.
    The first frame is stored as it is, so it tells which point is which."""
    import numpy as np
    places = {}
    for k, point in enumerate(cache[0]):
        places.setdefault(key(point), []).append(k)
    worst = 0.0
    for v, point in enumerate(frames[0][1]):
        candidates = places.get(key(point))
        if candidates is None:
            return float("inf")
        worst = max(worst, min(max(np.abs(shown[v] - cache[k][c]).max() for k, shown in frames) for c in candidates))
    return worst


def tolerance(cache):
    """A first frame plus a difference, each of them rounded."""
    import numpy as np
    return 4 * np.finfo("f4").eps * max(1.0, float(np.abs(cache.points).max()))


def verify_glb(args, report):
    import numpy as np
    import trimesh
    glb, cache = Glb(args.glb), Cache(args.pc2)
    times = glb.times()
    report.check(len(times) == len(cache.points) and times[0] == 0 and (np.diff(times) > 0).all(),
                 f"{args.glb}: {len(times)} keyframes from zero")
    report.names("glTF", "as they are", glb.names)
    chosen = cache.chosen()
    for name, parts in zip(glb.names, glb.parts):
        frames = [(k, np.concatenate([glb.points(p, k) for p in parts])) for k in chosen]
        worst = farthest(frames, cache.points)
        report.check(worst <= tolerance(cache), f"{name}: targets at frames {chosen} within {worst:.1e} of the PC2")

    print(f"trimesh {trimesh.__version__}")
    scene = trimesh.load(args.glb, process=False)
    shown = sorted(scene.graph.nodes_geometry)
    report.check(len(scene.geometry) == sum(map(len, glb.parts)) and all(any(s.startswith(n) for s in shown) for n in glb.names),
                 f"trimesh has {len(scene.geometry)} parts, of all bodies by name: {', '.join(shown)}")
    count = sum(len(g.faces) for g in scene.geometry.values() if hasattr(g, "faces"))
    wanted = sum(len(glb.triangles(p)) for parts in glb.parts for p in parts)
    report.check(count == wanted, f"trimesh has {count} of {wanted} triangles")
    points = np.concatenate([g.vertices for g in scene.geometry.values()]).astype("f4")
    known = {key(p) for p in cache.points[0]}
    report.check(all(key(p) in known for p in points),
                 f"trimesh's {len(points)} vertices are the PC2's of the first frame, bit for bit")
    if args.obj:
        verify_glb_faces(glb, Obj(numbered(args.obj, cache.start)), report)


def verify_glb_faces(glb, obj, report):
    """Every triangle lies in a face of the OBJ, and there are as many as those faces make."""
    faces_at = {}
    for f, face in enumerate(obj.faces):
        for v in face:
            faces_at.setdefault(key(obj.vertices[v]), set()).add(f)
    lost = count = 0
    for parts in glb.parts:
        for part in parts:
            points = [faces_at.get(key(p), set()) for p in glb.points(part, 0)]
            for a, b, c in glb.triangles(part):
                count += 1
                lost += not points[a] & points[b] & points[c]
    report.check(lost == 0 and count == obj.triangle_count(),
                 f"{count} triangles make up the {len(obj.faces)} faces of the OBJ, {lost} do not fit")


def verify_blender_glb(args, report):
    import bpy
    import numpy as np
    glb, cache = Glb(args.glb), Cache(args.pc2)
    times, chosen = glb.times(), cache.chosen()
    fps = 1.0 / float(times[1]) if len(times) > 1 else 24.0
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base = round(fps), round(fps) / fps if abs(fps - round(fps)) > 1e-3 else 1.0
    bpy.ops.import_scene.gltf(filepath=os.path.abspath(args.glb))
    objects = {o.name: o for o in bpy.data.objects if o.type == "MESH"}
    report.names("Blender, of glTF", "as they are", objects, ordered=False)
    report.check(sorted(objects) == sorted(glb.names), f"Blender's objects: {', '.join(objects)}")
    if glb.clip:
        last = [a.frame_range[1] for a in bpy.data.actions]
        report.check(bool(last) and abs(max(last) - times[-1] * fps) < 1e-2, f"the action ends at frame {max(last):g}")

    def positions(obj):
        data = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        out = np.empty(3 * len(data.vertices), "f4")
        data.attributes["position"].data.foreach_get("vector", out)
        x, y, z = out.reshape(-1, 3).T
        return np.stack([x, z, -y], axis=1) + np.float32(0)

    shown = {name: [] for name in objects}
    for k in chosen:
        frame = round(float(times[k]) * fps * 1e3) / 1e3
        scene.frame_set(int(frame), subframe=frame - int(frame))
        for name, obj in objects.items():
            shown[name].append((k, positions(obj)))
    for name, parts in zip(glb.names, glb.parts):
        if name not in objects:
            continue
        mesh = objects[name].data
        report.check(len(mesh.polygons) == sum(len(glb.triangles(p)) for p in parts), f"{name}: {len(mesh.polygons)} triangles")
        worst = farthest(shown[name], cache.points)
        report.check(worst <= tolerance(cache), f"{name}: Blender shows frames {chosen} within {worst:.1e} of the PC2")
        verify_blender_materials(name, mesh, parts, [glb.document["materials"][p["material"]] for p in parts], report)


def verify_blender_materials(name, mesh, parts, wanted, report):
    import numpy as np
    report.check([m.name for m in mesh.materials] == [m.get("name", "") for m in wanted],
                 f"{name}: materials {', '.join(m.name for m in mesh.materials)}")
    for material, given in zip(mesh.materials, wanted):
        node = next(n for n in material.node_tree.nodes if n.type == "BSDF_PRINCIPLED")
        if not node.inputs["Base Color"].is_linked:
            color = np.array(node.inputs["Base Color"].default_value)
            factor = np.array(given["pbrMetallicRoughness"]["baseColorFactor"])
            report.check(np.abs(color - factor)[:3].max() < 1e-6, f"{material.name}: colour {color.round(3)}")
    if "COLOR_0" in parts[0]["attributes"]:
        report.check(len(mesh.color_attributes) > 0, f"{name}: has vertex colours")
