"""Alembic: the archive as the Alembic library sees it, and as Blender shows it."""

import os

from .common import Cache, Obj, first_middle_last, frames_per_second, numbered, same


def triples(values):
    import numpy as np
    return np.array([list(v) for v in values], "f4").reshape(-1, 3)


class Shape:
    """A body in the archive."""

    def __init__(self, name, is_mesh, schema, xform):
        self.name, self.is_mesh, self.schema, self.xform = name, is_mesh, schema, xform
        # Where its points begin in the PC2.
        self.start = 0


def shapes_of(top, samples, report):
    from alembic3d import AbcGeom
    shapes = []
    for child in top.children:
        name, below = child.getName(), list(child.children)
        xform = AbcGeom.IXform(top, name).getSchema()
        ok = len(below) == 1 and xform.isConstantIdentity() and xform.getChildBoundsProperty().getNumSamples() == samples
        mesh = ok and AbcGeom.IPolyMesh.matches(below[0].getHeader())
        points = ok and AbcGeom.IPoints.matches(below[0].getHeader())
        if report.check(mesh or points, f"{name}: an identity transform over one {'mesh' if mesh else 'cloud of points'}"):
            kind = AbcGeom.IPolyMesh if mesh else AbcGeom.IPoints
            shapes.append(Shape(name, mesh, kind(child, below[0].getName()).getSchema(), xform))
    report.check(all(s.schema.getNumSamples() == samples for s in shapes), f"{samples} samples each")
    return shapes


def verify_alembic(args, report):
    """Against the PC2 (all frames) and the OBJ sequence."""
    import imath  # noqa: F401  (the types of the arrays)
    import numpy as np
    from alembic3d import Abc
    cache = Cache(args.pc2)
    archive = Abc.IArchive(args.abc)
    if not report.check(archive.valid() and archive.getNumTimeSamplings() == 2, f"the Alembic library opens {args.abc}"):
        return
    times, count = archive.getTimeSampling(1), len(cache.points)
    seconds = [times.getSampleTime(k) for k in range(count)]
    fps = frames_per_second(args.usda)
    report.check(np.allclose(np.array(seconds) * fps, [cache.frame(k) for k in range(count)], rtol=0, atol=1e-9),
                 f"times are frames {cache.frame(0):g} to {cache.frame(count - 1):g} at {fps:g} per second")
    shapes = shapes_of(archive.getTop(), count, report)
    report.names("Alembic", "parts of paths", [s.name for s in shapes])
    verify_motion(shapes, seconds, cache, report)
    for shape in shapes:
        (verify_mesh if shape.is_mesh else verify_cloud)(shape, report)
    if args.obj:
        for k in first_middle_last(count):
            verify_dress(shapes, seconds[k], numbered(args.obj, cache.frame(k)), report)


def verify_motion(shapes, seconds, cache, report):
    """Points and bounds of all frames."""
    import numpy as np
    from alembic3d import Abc

    def box(bounds):
        return np.array([list(bounds.min()), list(bounds.max())])

    points_fit = bounds_fit = True
    for k, second in enumerate(seconds):
        selector, at = Abc.ISampleSelector(second), 0
        for shape in shapes:
            sample = shape.schema.getValue(selector)
            points = triples(sample.getPositions())
            shape.start = at
            points_fit &= points.tobytes() == cache.points[k, at:at + len(points)].tobytes()
            at += len(points)
            if len(points):
                wanted = np.array([points.min(0), points.max(0)], "f8")
                bounds_fit &= same(box(sample.getSelfBounds()), wanted)
                bounds_fit &= same(box(shape.xform.getChildBoundsProperty().getValue(selector)), wanted)
        points_fit &= at == cache.points.shape[1]
    report.check(points_fit, f"all {cache.points.shape[1]} points of all {len(seconds)} frames are the PC2's, bit for bit")
    report.check(bounds_fit, "bounds of shapes and transforms are those of the points")


def verify_cloud(shape, report):
    sample = shape.schema.getValue()
    count = len(sample.getPositions())
    widths = list(shape.schema.getWidthsParam().getExpandedValue().getVals())
    report.check(list(sample.getIds()) == list(range(count)) and len(widths) == count and all(w > 0 for w in widths),
                 f"{shape.name}: {count} ids and widths")


def verify_mesh(shape, report):
    sample, schema = shape.schema.getValue(), shape.schema
    counts, indices, points = list(sample.getFaceCounts()), list(sample.getFaceIndices()), len(sample.getPositions())
    report.check(sum(counts) == len(indices) and min(counts) >= 3 and all(0 <= i < points for i in indices),
                 f"{shape.name}: {len(counts)} faces fit the points")
    sets = [list(schema.getFaceSet(s).getSchema().getValue().getFaces()) for s in schema.getFaceSetNames()]
    report.check(sorted(f for s in sets for f in s) == list(range(len(counts))),
                 f"{shape.name}: every face is in one of the face sets {', '.join(schema.getFaceSetNames())}")


def verify_dress(shapes, second, path, report):
    """Faces, normals and texture coordinates of a frame against an OBJ file."""
    import numpy as np
    from alembic3d import Abc, AbcGeom
    selector, wanted, at = Abc.ISampleSelector(second), Obj(path).dressed_faces(), 0
    faces_fit = uvs_fit = normals_fit = True
    for shape in shapes:
        if not shape.is_mesh:
            continue
        sample = shape.schema.getValue(selector)
        indices = list(sample.getFaceIndices())
        normals_param, uvs = shape.schema.getNormalsParam(), shape.schema.getUVsParam()
        normals = triples(normals_param.getExpandedValue(selector).getVals())
        per_corner = normals_param.getScope() == AbcGeom.GeometryScope.kFacevaryingScope
        uvs = [list(v) for v in uvs.getExpandedValue(selector).getVals()] if uvs.valid() else None
        corner = 0
        for count in sample.getFaceCounts():
            face = wanted[at] if at < len(wanted) else []
            at += 1
            # Alembic's faces are clockwise: the OBJ's corners in reverse.
            order = range(corner + count - 1, corner - 1, -1)
            faces_fit &= [v for v, _, _ in face] == [indices[c] + shape.start for c in order]
            for c, (_, uv, normal) in zip(order, face):
                uvs_fit &= (uv is None) == (uvs is None) and (uv is None or np.allclose(uvs[c], uv, atol=1e-6))
                # The OBJ has them in four decimals.
                normals_fit &= normal is None or np.allclose(normals[c if per_corner else indices[c]], normal, atol=2e-4)
            corner += count
    report.check(faces_fit and at == len(wanted), f"{path.name}: the same {at} faces, turned over")
    report.check(normals_fit and uvs_fit, f"{path.name}: the same normals and texture coordinates")


def verify_blender_alembic(args, report):
    """Against the PC2 and the OBJ sequence."""
    import bpy
    import numpy as np
    cache = Cache(args.pc2)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    fps = frames_per_second(args.usda)
    scene.render.fps = max(1, round(fps))
    scene.render.fps_base = scene.render.fps / fps
    done = bpy.ops.wm.alembic_import(filepath=os.path.abspath(args.abc), set_frame_range=True, as_background_job=False)
    report.check(done == {"FINISHED"}, "Blender imports the archive")
    last = cache.frame(len(cache.points) - 1)
    report.check(scene.frame_start == cache.start and scene.frame_end == last,
                 f"Blender's frame range is {scene.frame_start}..{scene.frame_end}")
    objects = [o for o in bpy.data.objects if o.type in ("MESH", "POINTCLOUD")]
    report.names("Blender, of Alembic", "parts of paths", [o.name for o in objects], ordered=False)
    report.check(all(same(np.array(o.matrix_world), np.eye(4)) for o in objects), "no object is moved")

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

    scene.frame_set(int(cache.start))
    places = {o.name: cache.place_of(positions(o)) for o in objects}
    report.check(None not in places.values() and sum(len(positions(o)) for o in objects) == cache.points.shape[1],
                 f"Blender shows all {cache.points.shape[1]} points of the first frame")
    for k in cache.chosen():
        scene.frame_set(int(cache.frame(k)))
        frame = f"frame {scene.frame_current}: Blender shows"
        faces = Obj(numbered(args.obj, cache.frame(k))).dressed_faces() if args.obj else None
        for o in objects:
            at, points = places[o.name], positions(o)
            if at is None:
                continue
            report.check(same(points, cache.points[k, at:at + len(points)]),
                         f"{frame} {o.name} from Alembic at the PC2's points, bit for bit")
            if o.type != "MESH" or faces is None:
                continue
            mesh = shown(o)
            own = [f for f in faces if at <= f[0][0] < at + len(points)]
            polygons = [[v + at for v in p.vertices] for p in mesh.polygons]
            report.check(polygons == [[v for v, _, _ in f] for f in own], f"{frame} the OBJ's {len(own)} faces of {o.name}")
            corners = [c for f in own for c in f]
            if corners and corners[0][2] is not None:
                # Blender keeps custom normals in 16 bits.
                normals = y_up(read(mesh.corner_normals, "vector", 3))
                wanted = np.array([n for _, _, n in corners])
                report.check(len(normals) == len(wanted) and np.abs(normals - wanted).max() < 2e-3, f"{frame} its normals")
            if corners and corners[0][1] is not None:
                uvs = read(mesh.uv_layers[0].data, "uv", 2) if mesh.uv_layers else np.empty((0, 2))
                wanted = np.array([t for _, t, _ in corners])
                report.check(len(uvs) == len(wanted) and np.allclose(uvs, wanted, atol=1e-6),
                             f"{frame} its texture coordinates")
