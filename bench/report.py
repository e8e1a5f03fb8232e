"""Medians and tables."""

import os
import platform
import statistics
import subprocess
import time
from pathlib import Path


class Samples:
    """Every value measured: row -> subject -> list of values; "fail" is a value, too."""

    def __init__(self):
        self.rows = {}

    def add(self, row, subject, value):
        self.rows.setdefault(row, {}).setdefault(subject, []).append(value)

    def median(self, row, subject):
        values = [v for v in self.rows[row].get(subject, []) if not isinstance(v, str)]
        return statistics.median(values) if values else None

    def failed(self, row, subject):
        return any(isinstance(v, str) for v in self.rows[row].get(subject, []))


def duration(seconds):
    if seconds < 0.001:
        return f"{seconds * 1e6:.0f} us"
    if seconds < 1:
        return f"{seconds * 1e3:.1f} ms"
    return f"{seconds:.2f} s"


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|---" * len(header) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def workload_table(samples, subjects):
    """The first subject in seconds, the others as a ratio to it."""
    first, *others = subjects
    rows = []
    for row in samples.rows:
        base = samples.median(row, first)
        cells = [row, duration(base) if base else "-"]
        for other in others:
            value = samples.median(row, other)
            if value is None:
                cells.append("failed" if samples.failed(row, other) else "-")
            elif base:
                cells.append(f"{value / base:.2f}x")
            else:
                cells.append(duration(value))
        rows.append(cells)
    return table(["workload", first, *others], rows)


def measure_table(samples, subjects):
    rows = []
    for row in samples.rows:
        cells = [row]
        for subject in subjects:
            value = samples.median(row, subject)
            if value is None:
                cells.append("failed" if samples.failed(row, subject) else "-")
            else:
                cells.append(f"{value:.1f}" if "MiB)" in row else duration(value))
        rows.append(cells)
    return table(["measure", *subjects], rows)


def output(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def machine(scratch):
    memory = next((line.split()[1] for line in Path("/proc/meminfo").read_text().splitlines()
                   if line.startswith("MemTotal:")), "0")
    filesystem = output("findmnt", "-n", "-o", "FSTYPE", "-T", str(scratch))
    return (f"{platform.system()} {platform.release()}, {os.cpu_count()} processors, "
            f"{int(memory) >> 20} GiB, scratch on {filesystem}")


def document(command, scratch, rounds, subjects, notes, workloads, measures):
    here = Path(__file__).parent
    revision = output("git", "-c", "safe.directory=*", "-C", str(here), "describe", "--always",
                      "--dirty")
    parts = ["# Results\n",
             f"Measured on {time.strftime('%Y-%m-%d')} at revision {revision or 'unknown'}, "
             f"by\n\n```\n{command}\n```\n",
             f"{machine(scratch)}. Medians of {rounds} interleaved rounds. Compare ratios; "
             "seconds belong to the machine.\n"]
    for note in notes:
        parts.append(f"* {note}")
    if notes:
        parts.append("")
    parts += ["## Work\n", "What ordinary programs do, as a ratio to the plain directory.\n",
              workload_table(workloads, subjects),
              "## Going back\n",
              "A row of unwrite includes the start of one process. To discard, the overlays are "
              "unmounted, emptied and mounted again.\n",
              measure_table(measures, subjects)]
    return "\n".join(parts)
