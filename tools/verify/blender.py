"""What Blender shows of USD, PC2, MDD, OBJ and PLY."""

import os

from .common import Cache, Obj, numbered, same


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
    report.names("Blender, of USD", "identifiers", [o.name for o in objects], ordered=False)
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
    slices = {o.name: cache.place_of(blender_positions(o)) for o in objects}
    report.check(None not in slices.values(), "the points of the first frame are found in the cache")
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
    path = numbered(args.obj, cache.start)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.obj_import(filepath=os.path.abspath(path))
    bpy.context.view_layer.update()
    from_obj = heights()
    used = Obj(path).used()
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
        path = numbered(args.obj, cache.frame(k))
        before = set(bpy.data.objects)
        # The axes of the file, not Blender's, so that numbers can be compared.
        bpy.ops.wm.obj_import(filepath=os.path.abspath(path), forward_axis="Y", up_axis="Z")
        new = [o for o in bpy.data.objects if o not in before]
        shown = [blender_positions(o) for o in new]
        shown = np.concatenate(shown) if shown else np.empty((0, 3), "f4")
        # Blender sorts objects by name, so compare as sets, and it has no point elements.
        obj = Obj(path)
        used = obj.used()
        report.check(len(shown) == len(used)
                     and same(np.unique(shown, axis=0), np.unique(cache.points[k][used], axis=0)),
                     f"Blender imports {path.name} with the {len(shown)} points of the PC2 that have faces, "
                     f"bit for bit ({len(obj.vertices) - len(used)} points of clouds are not imported)")
        report.check(sum(len(o.data.polygons) for o in new) == len(obj.faces),
                     f"Blender imports {len(obj.faces)} faces as objects {', '.join(o.name for o in new)}")
        if k == 0:
            clouds = len(obj.vertices) > len(used)
            report.check({o.name for o in new} <= set(obj.names) and (clouds or len(new) == len(obj.names)),
                         "Blender has the names of the OBJ")


def verify_blender_ply(args, report):
    import bpy
    cache = Cache(args.pc2)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    for k in cache.chosen():
        path = numbered(args.ply, cache.frame(k))
        before = set(bpy.data.objects)
        bpy.ops.wm.ply_import(filepath=os.path.abspath(path))
        new = [o for o in bpy.data.objects if o not in before]
        report.check(len(new) == 1 and same(blender_positions(new[0]), cache.points[k]),
                     f"Blender imports {path.name} with the {cache.points.shape[1]} points of the PC2, bit for bit")
        if args.obj and new:
            faces = [list(p.vertices) for p in new[0].data.polygons]
            report.check(faces == Obj(numbered(args.obj, cache.frame(k))).faces, f"and the OBJ's {len(faces)} faces")
