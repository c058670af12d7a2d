"""What meshio, pyvista and trimesh read of VTU, OBJ, PLY and tetrahedral meshes; MDD by its specification."""

import struct
from pathlib import Path

from .common import Cache, Obj, first_middle_last, numbered, same


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
    import numpy as np
    import trimesh
    cache = Cache(args.pc2)
    for k in cache.chosen():
        path = numbered(args.ply, cache.frame(k))
        mesh = meshio.read(path)
        report.check(same(mesh.points.astype("f4"), cache.points[k]),
                     f"meshio: {path.name} has the {len(mesh.points)} points of the PC2, bit for bit")
        normals = np.stack([mesh.point_data[n] for n in ("nx", "ny", "nz")], axis=1)
        length = np.linalg.norm(normals, axis=1)
        report.check(((np.abs(length - 1) < 1e-3) | (length == 0)).all(), f"meshio: {path.name} has unit normals")
        # Sorted by their number of corners.
        faces = [f for block in mesh.cells for f in block.data.tolist()]
        if args.obj:
            obj = Obj(numbered(args.obj, cache.frame(k)))
            report.check(sorted(faces) == sorted(obj.faces), f"meshio: {path.name} has the OBJ's {len(faces)} faces")
        if len({len(f) for f in faces}) > 1:
            print("skipped: trimesh reads no binary PLY with faces of several sizes")
            continue
        shown = trimesh.load(path, process=False)
        count = len(getattr(shown, "faces", []))
        report.check(same(np.asarray(shown.vertices, "f4"), cache.points[k]) and count == sum(len(f) - 2 for f in faces),
                     f"trimesh: {path.name} has the same points and {count} triangles")
    verify_ply_names(numbered(args.ply, cache.start), report)


def verify_ply_names(path, report):
    """Names stand in comments, for people: no format of its own has room for them."""
    names = []
    with open(path, "rb") as lines:
        for line in lines:
            if line.startswith(b"comment body "):
                names.append(line.decode().rstrip("\n").split(": ", 1)[1])
            elif line == b"end_header\n":
                break
    report.names("PLY", "as they are", names)


def verify_obj(args, report):
    import trimesh
    cache = Cache(args.pc2)
    for k in cache.chosen():
        path = numbered(args.obj, cache.frame(k))
        obj = Obj(path)
        report.check(same(obj.vertices, cache.points[k]),
                     f"{path.name} has the {len(obj.vertices)} points of the PC2, bit for bit")
        scene = trimesh.load(path, process=False, force="scene", split_object=True, group_material=False)
        faces = sum(len(g.faces) for g in scene.geometry.values() if hasattr(g, "faces"))
        report.check(faces == obj.triangle_count(), f"trimesh reads {faces} triangles from {path.name}")
        if k == 0:
            report.names("OBJ", "words", obj.names)


def verify_tets(args, report):
    """Files of one tetrahedral mesh in several formats: meshio reads them all, and the same from each."""
    import meshio
    import numpy as np
    first = None
    for path in args.tets:
        mesh = meshio.read(path)
        blocks = [c.data for c in mesh.cells if c.type == "tetra"]
        tets = np.concatenate(blocks) if blocks else np.empty((0, 4), int)
        regions = next((np.concatenate([r for r, c in zip(values, mesh.cells) if c.type == "tetra"])
                        for name, values in sorted(mesh.cell_data.items())
                        if name in ("gmsh:physical", "medit:ref", "tetgen:ref", "region")), None)
        edges = mesh.points[tets[:, 1:]] - mesh.points[tets[:, :1]]
        report.check(len(tets) > 0 and (np.linalg.det(edges) > 0).all(),
                     f"meshio reads {len(mesh.points)} points and {len(tets)} tetrahedra, none turned over, from {path}")
        if first is None:
            first = (mesh.points, tets, regions)
        report.check(same(mesh.points, first[0]) and same(tets, first[1]), f"{path} has the points and tetrahedra of {args.tets[0]}")
        report.check(regions is not None and first[2] is not None and np.array_equal(regions, first[2]),
                     f"{path} has its regions, {sorted(set(np.asarray(regions).tolist())) if regions is not None else 'none'}")
