"""What all checks share: the report, the PC2 and OBJ they compare with."""

import struct
from pathlib import Path


class Report:
    """What was found. `seen` are names of bodies that programs found in files, compared when all have looked."""

    def __init__(self):
        self.failed = 0
        self.seen = []

    def check(self, ok, text):
        print(("passed: " if ok else "FAILED: ") + text)
        self.failed += not ok
        return ok

    def names(self, program, style, names, ordered=True):
        """Bodies as a program found them in a file of a format that has names in this style (see names.py)."""
        self.seen.append({"program": program, "style": style, "names": list(names), "ordered": ordered})


def first_middle_last(count):
    return sorted({0, count // 2, count - 1})


def numbered(path, frame):
    path = Path(path)
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

    def place_of(self, first):
        """Where points of the first frame lie in the cache, for programs that list bodies in an order of their own."""
        n = len(first)
        return next((k for k in range(self.points.shape[1] - n + 1)
                     if n and same(self.points[0, k:k + n], first)), None)


class Obj:
    """What an OBJ file holds: what topology, texture coordinates and normals are compared with."""

    def __init__(self, path):
        import numpy as np
        rows = {"v": [], "vt": [], "vn": []}
        self.faces, self.names, self._corners = [], [], []
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                parts = line.split()
                if parts[:1] and parts[0] in rows:
                    rows[parts[0]].append([float(x) for x in parts[1:4]])
                elif parts[:1] == ["o"]:
                    self.names.append(line[2:].rstrip("\n"))
                elif parts[:1] == ["f"]:
                    corners = [(corner.split("/") + ["", ""])[:3] for corner in parts[1:]]
                    self._corners.append([tuple(int(x) - 1 if x else None for x in c) for c in corners])
                    self.faces.append([c[0] for c in self._corners[-1]])
        self.vertices = np.array(rows["v"], "f4").reshape(-1, 3)
        self._uvs, self._normals = np.array(rows["vt"], "f4"), np.array(rows["vn"], "f4")

    def dressed_faces(self):
        """For each face and corner: vertex, texture coordinates or None, normal or None."""
        return [[(v, None if t is None else self._uvs[t][:2], None if n is None else self._normals[n])
                 for v, t, n in face] for face in self._corners]

    def used(self):
        """Vertices that have faces."""
        import numpy as np
        return np.unique([v for f in self.faces for v in f]).astype(int)

    def triangle_count(self):
        return sum(len(f) - 2 for f in self.faces)


def split(indices, counts):
    """Faces as lists, from one list of all corners and the number of corners of each face."""
    faces, at = [], 0
    for n in counts:
        faces.append([int(v) for v in indices[at:at + n]])
        at += n
    return faces


def frames_per_second(usda):
    """What the .usda of the same run says, as text: for where there is no USD library."""
    import re
    with open(usda, encoding="utf-8") as lines:
        found = (re.match(r"\s*framesPerSecond = (\S+)", line) for line in lines)
        return next((float(m.group(1)) for m in found if m), 24.0)


def same(a, b):
    import numpy as np
    return a.shape == b.shape and np.array_equal(a, b)
