"""What was measured as pictures: ratios for each table of work, curves for each axis of growth."""

import scaling
import svg
import targets
from report import TITLES, duration, in_order, ratios, slug


def ratio(value):
    return f"{value:g}x" if value >= 100 else f"{value:.2g}x"


def work(results, part):
    rows = ratios(results, part)
    wanted = {}
    for verdict in targets.judge(results, targets.load()):
        if verdict.part == part and verdict.kind in ("ratio", "speed"):
            number = verdict.target[verdict.kind]
            wanted.setdefault(verdict.target["row"], []).append(number if verdict.kind == "ratio" else 1 / number)
    about = results.parts[part]
    title = f"{TITLES[part].format(**about)}: times the plain directory (red: the targets)"
    return svg.dots(title, rows, in_order(about)[1:], ratio, wanted) if rows else None


def growth(results, axis):
    found = scaling.curves(results.samples("scaling"), axis)
    # Bytes and seconds have no common axis.
    timed = {name: points for name, points in found.items() if name != scaling.MEMORY}
    return svg.curves(f"How it grows with the {axis}", axis, timed, duration) if timed else None


def pictures(results):
    """{name: SVG text} of everything that was measured."""
    found = {}
    for part in results.parts:
        if part in ("disk", "tmpfs", "user-disk", "user-tmpfs"):
            found[f"work-{part}"] = work(results, part)
        elif part == "scaling":
            for axis in scaling.DESIGN:
                found[f"scaling-{slug(axis)}"] = growth(results, axis)
    return {name: picture for name, picture in found.items() if picture}


def write(results, folder):
    folder.mkdir(exist_ok=True)
    found = pictures(results)
    for old in folder.glob("*.svg"):
        if old.stem not in found and not old.stem.startswith("flame-"):   # those are of `flame`
            old.unlink()
    for name, picture in found.items():
        (folder / f"{name}.svg").write_text(picture)
