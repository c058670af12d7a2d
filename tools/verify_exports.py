#!/usr/bin/env python3
"""Exports of one run, read by other people's programs and compared with one another.

    tools/verify_exports.py --usda run.usda --usdz run.usdz --pc2 run.pc2 --mdd run.mdd --obj run.obj \\
                            --vtu run.pvd --glb run.glb --abc run.abc --ply run.ply [--tets bear.msh bear.vtu …]

Give what there is, all of the same run, with all bodies and the same frames; positions are compared with --pc2,
topology, texture coordinates and normals with --obj, names with --usda. --tets is one tetrahedral mesh in several
formats. With --told a run is compared with what has to be seen in each of its frames instead: one in which bodies come, go
and are torn, so that there is no one order of points for all frames. With --posed some of its bodies are rigid, and told by
transforms where the format has these. Each program lives in a virtual environment of its own, filled from PyPI:

    usd      usd-core                   USD's validators; prims, materials, positions, normals
    mesh     meshio, pyvista, trimesh   VTU, PLY, OBJ, GLB, tetrahedral meshes
    alembic  alembic3d                  what the Alembic library reads
    blender  bpy (370 MB, Python 3.11)  what Blender shows of USD, PC2, MDD, OBJ, PLY, GLB, Alembic

What cannot be had (no PyPI, no Python 3.11) is skipped, with the reason. Exit code 1 means that a check failed.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from verify import alembic, blender, changing, glb, meshes, names, posed, usd
from verify.common import Report
from verify.environments import ENVIRONMENTS, python_with

INSIDE = "PLIANT_VERIFY_INSIDE"
FOUND = "PLIANT_VERIFY_FOUND"
FORMATS = ["usda", "usdz", "pc2", "mdd", "obj", "ply", "vtu", "glb", "abc"]

# Environment, check, and the arguments it cannot do without. A check of another format is a function
# verify_…(args, report) in one of the files of `verify` and a line here; a library it needs is an environment there.
CHECKS = [
    ("usd", usd.verify_usd, ["usda"]),
    ("usd", usd.verify_usdz, ["usdz"]),
    ("mesh", meshes.verify_mdd, ["mdd", "pc2"]),
    ("mesh", meshes.verify_vtu, ["vtu"]),
    ("mesh", meshes.verify_obj, ["obj", "pc2"]),
    ("mesh", meshes.verify_ply, ["ply", "pc2"]),
    ("mesh", meshes.verify_tets, ["tets"]),
    ("mesh", glb.verify_glb, ["glb", "pc2"]),
    ("alembic", alembic.verify_alembic, ["abc", "pc2", "usda"]),
    ("blender", blender.verify_blender_pc2, ["pc2"]),
    ("blender", blender.verify_blender_mdd, ["mdd", "pc2"]),
    ("blender", blender.verify_blender_usd, ["usda", "pc2"]),
    ("blender", blender.verify_blender_obj, ["obj", "pc2"]),
    ("blender", blender.verify_blender_ply, ["ply", "pc2"]),
    ("blender", blender.verify_blender_upright, ["usda", "obj", "pc2"]),
    ("blender", glb.verify_blender_glb, ["glb", "pc2"]),
    ("blender", alembic.verify_blender_alembic, ["abc", "pc2", "usda"]),
]

# The same for a run of which --told says what is to be seen.
CHANGING = [
    ("usd", changing.verify_changing_usd, ["usda", "usdz"]),
    ("mesh", changing.verify_changing_caches, ["pc2", "mdd"]),
    ("mesh", changing.verify_changing_sequences, ["obj", "ply", "vtu"]),
    ("mesh", changing.verify_changing_glb, ["glb"]),
    ("alembic", changing.verify_changing_alembic, ["abc"]),
    ("blender", changing.verify_blender_changing, ["usda", "abc", "glb"]),
]

# And of one with rigid bodies, of which --posed says it.
POSED = [
    ("usd", posed.verify_posed_usd, ["usda", "usdz"]),
    ("mesh", posed.verify_posed_caches, ["pc2", "mdd"]),
    ("mesh", posed.verify_posed_glb, ["glb"]),
    ("alembic", posed.verify_posed_alembic, ["abc"]),
    ("blender", posed.verify_blender_posed, ["usda", "abc", "glb"]),
]


def checks_of(args):
    return POSED if args.posed else CHANGING if args.told else CHECKS


def run_inside(environment, args):
    """All checks of an environment, in its interpreter. One that breaks does not keep the others from running."""
    report = Report()
    for where, check, needs in checks_of(args):
        if where != environment or any(getattr(args, n) is None for n in needs):
            continue
        print(f"-- {check.__name__}")
        try:
            check(args, report)
        except Exception as e:
            report.check(False, f"{check.__name__}: {type(e).__name__}: {e}")
    Path(os.environ[FOUND]).write_text(json.dumps(report.seen))
    return report.failed


def run_environment(name, python):
    """The checks of an environment in a process of its own: whether all passed, and the names they found."""
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "found.json"
        command = [str(python), os.path.abspath(__file__), *sys.argv[1:]]
        code = subprocess.run(command, env={**os.environ, INSIDE: name, FOUND: str(found)}).returncode
        return code == 0, json.loads(found.read_text()) if found.exists() else []


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in FORMATS:
        parser.add_argument("--" + name, help="as named at export: of a series without the number")
    parser.add_argument("--tets", nargs="+", help="files of one tetrahedral mesh")
    parser.add_argument("--told", help="JSON with what is to be seen in each frame")
    parser.add_argument("--posed", help="the same of a run with rigid bodies")
    parser.add_argument("--surface", action="store_true", help="the VTU files hold the render surface")
    parser.add_argument("--common", action="store_true", help="some particles are render vertices themselves")
    parser.add_argument("--without", action="append", default=[], choices=list(ENVIRONMENTS), help="leave this one out")
    parser.add_argument("--environments", help="where to keep the virtual environments")
    args = parser.parse_args()

    inside = os.environ.get(INSIDE)
    if inside:
        sys.exit(1 if run_inside(inside, args) else 0)

    given = [n for n in FORMATS + ["tets"] if getattr(args, n) is not None]
    if not given:
        parser.error("name at least one file")
    single = [getattr(args, n) for n in given if n not in ("obj", "ply", "tets")]
    for path in single + (args.tets or []):
        if not Path(path).is_file():
            parser.error(f"{path}: no such file")
    home = Path(args.environments or Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "pliant-verify")
    failed, checked, seen = [], set(), []
    for name in ENVIRONMENTS:
        wanted = [(check, needs) for where, check, needs in checks_of(args)
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
        passed, found = run_environment(name, python)
        seen += found
        if not passed:
            failed.append(name)
        checked.update(n for _, needs in wanted for n in needs)
    if seen:
        print("== names", flush=True)
        report = Report()
        names.compare(seen, report)
        failed += ["names"] if report.failed else []
    for name in given:
        if name not in checked:
            print(f"skipped: --{name} {getattr(args, name)}: nothing could look at it")
    print(f"failed: {', '.join(failed)}" if failed else "all that was checked passed" if checked else "nothing was checked")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
