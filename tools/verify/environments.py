"""Virtual environments with other people's programs, filled from PyPI."""

import os
import shutil
import subprocess
import sys
import venv

# For each environment its packages, and the version of Python they need if it is a certain one.
ENVIRONMENTS = {
    "usd": (["usd-core", "numpy"], None),
    "mesh": (["meshio", "pyvista", "trimesh", "numpy"], None),
    "alembic": (["alembic3d==1.8.12.1", "numpy"], None),
    "blender": (["bpy==5.0.1", "numpy"], (3, 11)),
}


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
