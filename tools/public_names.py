#!/usr/bin/env python3
"""Public names of the libraries that nobody outside of their crate uses: neither other crates nor tests, examples or chapters.

A name counts as public if `lib.rs` or a public module exports it. It may stay without a user where another public name speaks of
it (a parameter, a field, an error), or where ALLOWED says what for. Everything else is to become private: `tools/public_names.py`
lists it and fails.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CRATES = ["pliant", "pliant-scene", "pliant-cache", "pliant-session", "pliant-geometry", "pliant-math", "pliant-linalg"]
# What users need and nothing here does.
ALLOWED = {
    "pliant": {
        "AUXILIARY": "columns of users' own rows that stand for auxiliary unknowns",
        "INNER": "where users' own Hessians have the unknowns they eliminate",
        "check_near": "holds users' own constraints to what they declare where those are not defined everywhere",
    },
}

ITEM = re.compile(r"^pub (?:const |unsafe |async )*(fn|struct|enum|trait|const|static|type) (\w+)", re.M)
USE = re.compile(r"^pub use ([^;]+);", re.M)
SPEAKING = [
    re.compile(r"^\s*pub (?:const |unsafe |async )*fn \w+(.*?)(?:\{|;\n)", re.M | re.S),
    re.compile(r"^\s*pub \w+: ([^\n]*)", re.M),
    re.compile(r"^pub (?:struct|type|const|trait|enum) \w+([^\n]*)", re.M),
    # Functions and types of traits, and what variants hold.
    re.compile(r"^    (?:fn \w+|type \w+ =|\w+(?=[({]))(.*?)(?:\{|;\n|,\n)", re.M | re.S),
]
MODULE = re.compile(r"^pub mod (\w+);", re.M)


def without_tests(text):
    cut = re.search(r"^#\[cfg\(test\)\]\n(?:#\[[^\n]*\]\n)*mod \w+ \{", text, re.M)
    return text[: cut.start()] if cut else text


def leaves(tree):
    """The names a `use` makes known."""
    tree = re.sub(r"\s+", " ", tree.strip())
    if "{" in tree:
        inner = tree[tree.index("{") + 1 : tree.rindex("}")]
        depth, part, parts = 0, "", []
        for c in inner + ",":
            depth += (c == "{") - (c == "}")
            if c == "," and depth == 0:
                parts.append(part)
                part = ""
            else:
                part += c
        return [name for p in parts if p.strip() for name in leaves(p)]
    return [tree.split(" as ")[-1].split("::")[-1].strip()]


def exported(file, folder):
    """Names of a module and of the public modules in it."""
    text = without_tests(file.read_text())
    names = {name for m in USE.finditer(text) for name in leaves(m[1])}
    if file.name != "lib.rs":
        names |= {m[2] for m in ITEM.finditer(text)}
    for m in MODULE.finditer(text):
        inner = next(f for f in (folder / f"{m[1]}.rs", folder / m[1] / "mod.rs") if f.is_file())
        names |= exported(inner, folder / m[1])
    return names


def words(text):
    return set(re.findall(r"\w+", text))


def main():
    texts = {}
    for pattern in ("crates/**/*.rs", "crates/**/*.md", "docs/**/*.md", "fuzz/**/*.rs", "*.md", ".ci/*"):
        for path in ROOT.glob(pattern):
            if path.is_file() and "target" not in path.parts:
                texts[path] = path.read_text(errors="replace")
    found = []
    for crate in CRATES:
        source = ROOT / "crates" / crate / "src"
        inside = {p: t for p, t in texts.items() if source in p.parents}
        outside = set().union(*(words(t) for p, t in texts.items() if p not in inside))
        # Where public items speak of others: signatures, fields, bounds.
        spoken = set()
        for text in inside.values():
            text = without_tests(text)
            for pattern in SPEAKING:
                for m in pattern.finditer(text):
                    spoken |= words(m[1])
        for name in sorted(exported(source / "lib.rs", source)):
            if name not in outside and name not in spoken and name not in ALLOWED.get(crate, {}) and name != "*":
                found.append(f"{crate}: {name}")
    if found:
        print("public, and used by nobody outside (make them private, or say in ALLOWED what for):")
        print("\n".join(f"  {line}" for line in found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
