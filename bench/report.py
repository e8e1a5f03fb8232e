"""Medians and tables."""

import os
import platform
import re
import subprocess
from pathlib import Path

import fit
import scaling
import targets
from results import Samples

HERE = Path(__file__).resolve().parent
TITLES = {
    "disk": "Work on {filesystem}",
    "tmpfs": "Work in memory ({filesystem})",
    "user-disk": "Work on {filesystem}, mounted by a user without privileges",
    "user-tmpfs": "Work in memory ({filesystem}), mounted by a user without privileges",
    "back": "Going back",
    "scaling": "How it grows",
}
TEXTS = {
    "tmpfs": "The same where the filesystem below costs next to nothing.\n",
    "user-disk": "Daemon and work are those of a user, who mounts through fusermount3. Passthrough, kernel overlayfs and mergerfs\n"
                 "are for root.\n",
    "disk": "What ordinary programs do: the plain directory's time, the others as a ratio to it, and the time of one\n"
            "operation (a file, a write) where there is such a thing. Creating files on a disk hides what a mount costs;\n"
            "the table of the work in memory does not. The best of each row is bold.\n",
    "back": "A row of unwrite includes the start of one process, unless it says otherwise. To discard, the overlays are\n"
            "unmounted, emptied and mounted again.\n",
    "scaling": "Asked of the daemon over its socket, on {filesystem}. The slope is that of the logarithms over the\n"
               "sizes from a hundredth of the largest on: 0 is flat, 1 linear.\n",
}


def duration(seconds):
    if seconds < 0.0001:
        return f"{seconds * 1e6:.1f} us"
    if seconds < 0.001:
        return f"{seconds * 1e6:.0f} us"
    if seconds < 1:
        return f"{seconds * 1e3:.1f} ms"
    return f"{seconds:.2f} s"


def quantity(row, value):
    """A row that names its unit in brackets has it, and the others are times."""
    return f"{value:.1f}" if re.search(r"\((MiB|KiB|bytes)\)$", row) else duration(value)


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|---" * len(header) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def absent(samples, row, subject):
    return "failed" if samples.failed(row, subject) else "-"


def work_cell(value, base, count, best):
    each = f", {duration(value / count)}" if count else ""
    text = f"{value / base:.2f}x" if base else duration(value)
    return (f"**{text}**" if best else text) + each


def work_table(results, part, verdicts):
    """The plain directory in seconds, the others as a ratio to it; with the time of one operation."""
    samples, about = results.samples(part), results.parts[part]
    subjects = in_order(about)
    rows = []
    for row in samples.rows:
        count = about["operations"].get(row)
        base = samples.median(row, subjects[0])
        cells = [row, absent(samples, row, subjects[0]) if base is None else
                 duration(base) + (f", {duration(base / count)}" if count else "")]
        others = {subject: samples.median(row, subject) for subject in subjects[1:]}
        best = min((value for value in others.values() if value is not None), default=None)
        for subject, value in others.items():
            cells.append(absent(samples, row, subject) if value is None else
                         work_cell(value, base, count, value == best and len(others) > 1))
        rows.append([*cells, wanted_here(verdicts, part, row)])
    return table(["workload", *subjects, "target"], rows)


def ratios(results, part):
    """[(workload, {subject: times the plain directory}), ...] of all that have any."""
    samples = results.samples(part)
    base, *others = in_order(results.parts[part])
    rows = []
    for row in samples.rows:
        plain = samples.median(row, base)
        values = {name: samples.median(row, name) for name in others}
        found = {name: value / plain for name, value in values.items() if value and plain}
        if found:
            rows.append((row, found))
    return rows


def in_order(about):
    """The subjects, the plain directory first."""
    return sorted(about["subjects"], key=lambda name: name != targets.BASE)


def measure_table(results, part, verdicts):
    samples, subjects = results.samples(part), in_order(results.parts[part])
    rows = []
    for row in samples.rows:
        cells = [row]
        for subject in subjects:
            value = samples.median(row, subject)
            cells.append(absent(samples, row, subject) if value is None else quantity(row, value))
        rows.append([*cells, wanted_here(verdicts, part, row)])
    return table(["measure", *subjects, "target"], rows)


def wanted(verdict):
    target, number = verdict.target, verdict.target[verdict.kind]
    return {"ratio": lambda: f"<= {number:g}x", "speed": lambda: f">= {number:g} of native",
            "each": lambda: f"<= {duration(number)} each",
            "most": lambda: f"<= {quantity(target['row'], number)}"}[verdict.kind]()


def reached(verdict):
    if verdict.value is None:
        return "-"
    return {"ratio": lambda: f"{verdict.value:.2f}x", "speed": lambda: f"{verdict.value:.2f}",
            "each": lambda: duration(verdict.value),
            "most": lambda: quantity(verdict.target["row"], verdict.value)}[verdict.kind]()


def wanted_here(verdicts, part, row):
    found = []
    for verdict in verdicts:
        if verdict.part == part and verdict.target["row"] == row and verdict.value is not None:
            whose = "" if verdict.subject == targets.OURS else \
                "passthrough " if verdict.subject.startswith(targets.OURS) else ""
            found.append(f"{whose}{wanted(verdict)} {verdict.word}")
    return "; ".join(found)


def targets_table(verdicts):
    rows = [[v.part, v.target["row"], v.subject, wanted(v), reached(v), v.word, v.seen,
             v.target.get("peer", "")] for v in verdicts]
    return table(["part", "row", "subject", "target", "reached", "", "seen elsewhere", "fuse-overlayfs then"], rows)


def growth_table(samples, axis):
    """One row for each quantity of the axis: its value at each size, and how it grows."""
    curves = scaling.curves(samples, axis)
    sizes = sorted({size for points in curves.values() for size, _ in points})
    rows = []
    for name, points in curves.items():
        values = dict(points)
        slope, found = fit.growth(points)
        design = scaling.DESIGN[axis][name]
        verdict = "" if slope is None else "as designed" if fit.as_designed(found, design) else "WORSE"
        rows.append([name, *(quantity(name, values[size]) if size in values else "-" for size in sizes),
                     "-" if slope is None else f"{slope:.2f}", found, design, verdict])
    return table([axis, *(f"{size:,}" for size in sizes), "slope", "grows", "meant to be", ""], rows)


def growth_tables(samples):
    found = []
    for axis in scaling.DESIGN:
        if scaling.curves(samples, axis):
            found += [f"### {axis.capitalize()}\n", growth_table(samples, axis), picture(f"scaling-{slug(axis)}")]
    return "\n".join(found)


def slug(text):
    return text.replace(" ", "-")


def picture(name):
    return f"![{name}](plots/{name}.svg)\n"


def output(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def filesystem(folder):
    """Its name; of mounts over each other the one that is seen."""
    return (output("findmnt", "-n", "-o", "FSTYPE", "-T", str(folder)).splitlines() or ["unknown"])[-1]


def revision():
    return output("git", "-c", "safe.directory=*", "-C", str(HERE), "describe", "--always", "--dirty") or "unknown"


def machine():
    def field(file, name):
        for line in Path(file).read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith(name):
                return line.split(":", 1)[1].strip()
        return ""

    memory = int((field("/proc/meminfo", "MemTotal").split() or ["0"])[0])
    model = field("/proc/cpuinfo", "model name") or platform.machine()
    return (f"{platform.system()} {platform.release()}, {os.cpu_count()} processors ({model}), "
            f"{memory >> 20} GiB{idle_driver()}")


def idle_driver():
    """Where processors are put to sleep by the host, unwrite keeps them awake (decision 0028)."""
    file = Path("/sys/devices/system/cpu/cpuidle/current_driver")
    driver = file.read_text(encoding="ascii").strip() if file.exists() else "none"
    return "" if driver == "none" else f", idle driver {driver}"


def section(results, part, verdicts):
    about = results.parts[part]
    if part == "scaling":
        body = growth_tables(results.samples(part))
    elif part == "back":
        body = measure_table(results, part, verdicts)
    else:
        body = work_table(results, part, verdicts)
        if ratios(results, part):
            body += "\n" + picture(f"work-{part}")
    return [f"## {TITLES[part].format(**about)}\n",
            f"Measured on {about['date']} at revision {about['revision']} by {about['user']}, {about['rounds']} "
            f"round{'s' * (about['rounds'] != 1)}:\n\n```\n{about['command']}\n```\n",
            TEXTS.get(part, "").format(**about), body]


def document(results):
    verdicts = targets.judge(results, targets.load())
    judged = [v for v in verdicts if v.met is not None]
    parts = ["# Results\n",
             f"{results.data['machine']}. Medians. Compare ratios; seconds belong to the machine. Written by `bench/run "
             "--write`; README.md says how.\n"]
    parts += [f"* {note}" for note in results.data["notes"]]
    parts += [""] * bool(results.data["notes"])
    if judged:
        parts += ["## Targets\n", f"{sum(v.met for v in judged)} of {len(judged)} met; {len(verdicts) - len(judged)} "
                  "not measured.\n", targets_table(verdicts)]
    for part in TITLES:
        if part in results.parts and Samples(results.parts[part]["samples"]).rows:
            parts += section(results, part, verdicts)
    return "\n".join(parts)
