"""What is to be reached (targets.json), and whether it was.

A target names a `row` of the `parts` (disk and user-disk, where it names none) and the `subject` (unwrite, where it
names none; `largest`: the largest size of a curve), and one of these:

    ratio   at most so many times what the plain directory takes
    speed   at least so much of the plain directory's speed
    each    at most so many seconds for one operation of the workload
    most    at most so many seconds, or of the row's own unit

`seen` and `peer` say what others reached on such a machine: the best tuned FUSE filesystem that undoes nothing or the
best rival (`seen_user`: without privileges), and fuse-overlayfs.
"""

import json
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).resolve().with_name("targets.json")
EVERYWHERE = ("disk", "user-disk")
OURS = "unwrite"
BASE = "native"
KINDS = ("ratio", "speed", "each", "most")


@dataclass
class Verdict:
    part: str
    target: dict
    subject: str
    value: float | None   # in the target's own measure; None: not measured

    @property
    def kind(self):
        return next(kind for kind in KINDS if kind in self.target)

    @property
    def met(self):
        if self.value is None:
            return None
        wanted = self.target[self.kind]
        return self.value >= wanted if self.kind == "speed" else self.value <= wanted

    @property
    def seen(self):
        own = self.target.get("seen_user") if self.part.startswith("user-") else None
        return own or self.target.get("seen", "")

    @property
    def word(self):
        return {None: "not measured", True: "met", False: "MISSED"}[self.met]


def load():
    return json.loads(FILE.read_text())


def judge(results, targets):
    """A verdict for each target in each part that was measured; what a user cannot mount is not asked of him."""
    return [verdict(results, part, target) for part in results.parts for target in targets
            if part in target.get("parts", EVERYWHERE) and
            (target.get("subject", OURS) in (OURS, "largest") or not part.startswith("user-"))]


def verdict(results, part, target):
    samples = results.samples(part)
    subject = target.get("subject", OURS)
    sizes = [name for name in samples.rows.get(target["row"], {}) if name.isdigit()]
    if subject == "largest" and sizes:
        subject = max(sizes, key=int)
    return Verdict(part, target, subject, measured(results, part, target, subject))


def measured(results, part, target, subject):
    samples, row = results.samples(part), target["row"]
    value = samples.median(row, subject)
    if value is None or "most" in target:
        return value
    if "each" in target:
        count = results.parts[part]["operations"].get(row)
        return value / count if count else None
    base = samples.median(row, BASE)
    if not base or not value:
        return None
    return value / base if "ratio" in target else base / value
