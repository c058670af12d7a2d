"""Names of bodies across formats: what each format makes of the scene's names, and what programs found.

USD keeps the scene's own names as `displayName`: all others are compared with those, by the rules of docs/exports.md.
"""


def unique(names, allows, fallback, taken=()):
    """What a format has no room for becomes an underscore, names that are then the same are numbered."""
    taken, made = set(taken), []
    for name in names:
        base = "".join(c if allows(c) else "_" for c in name) or fallback
        count = 1
        while (base if count == 1 else f"{base}_{count}") in taken:
            count += 1
        made.append(base if count == 1 else f"{base}_{count}")
        taken.add(made[-1])
    return made


def control(c):
    return ord(c) < 32 or 127 <= ord(c) < 160


def word(c):
    return not c.isspace() and not control(c)


def identifiers(names):
    """ASCII letters, digits, underscores, no digit first; "Materials" is where USD keeps those."""
    plain = ["".join(c if c.isascii() and c.isalnum() else "_" for c in name) for name in names]
    return unique(["_" + n if n[:1].isdigit() else n for n in plain], lambda c: True, "body", ["Materials"])


STYLES = {
    "as they are": list,
    "identifiers": identifiers,
    "words": lambda names: unique(names, word, "body"),
    "parts of paths": lambda names: unique(names, lambda c: word(c) and c not in "/\\|:;.=\"'", "body"),
}


def compare(seen, report):
    """`seen` is what reports collected; the first of the style "scene" says what bodies are called."""
    true = next((s["names"] for s in seen if s["style"] == "scene"), None)
    others = [s for s in seen if s["style"] != "scene"]
    if true is None:
        print(f"skipped: names of bodies, found by {len(others)} programs: only USD tells what they are in the scene")
        return
    for s in others:
        wanted, found = STYLES[s["style"]](true), s["names"]
        if not s["ordered"]:
            wanted, found = sorted(wanted), sorted(found)
        report.check(found == wanted, f"{s['program']}: names are those of the scene, {s['style']}: {', '.join(found)}"
                     + ("" if found == wanted else f"; not {', '.join(wanted)}"))
