"""What was measured, as it is kept: in a file while a run goes on, and a line for each run in the history.

{"machine": TEXT, "notes": [TEXT], "parts": {PART: {"filesystem", "user", "command", "revision", "date", "rounds",
"subjects": [NAME], "operations": {ROW: COUNT}, "seconds": {STEP: [SECONDS]}, "samples": {ROW: {SUBJECT: [VALUE]}}}}}
"""

import json
import os
import statistics


class Samples:
    """Every value measured: row -> subject -> list of values; "fail" is a value, too."""

    def __init__(self, rows=None):
        self.rows = {} if rows is None else rows

    def add(self, row, subject, value):
        self.rows.setdefault(row, {}).setdefault(subject, []).append(value)

    def values(self, row, subject):
        return [v for v in self.rows.get(row, {}).get(subject, []) if not isinstance(v, str)]

    def median(self, row, subject):
        values = self.values(row, subject)
        return statistics.median(values) if values else None

    def failed(self, row, subject):
        return any(isinstance(v, str) for v in self.rows.get(row, {}).get(subject, []))


class Results:
    def __init__(self, data=None):
        self.data = data or {"machine": "", "notes": [], "parts": {}}

    @staticmethod
    def load(file):
        return Results(json.loads(file.read_text())) if file.exists() else Results()

    def save(self, file):
        """There is always a whole file."""
        file.parent.mkdir(parents=True, exist_ok=True)
        beside = file.with_suffix(".new")
        beside.write_text(json.dumps(self.data) + "\n")
        os.replace(beside, file)

    @property
    def parts(self):
        return self.data["parts"]

    def samples(self, part):
        return Samples(self.parts[part]["samples"])

    def note(self, text):
        if text in self.data["notes"]:
            return False
        self.data["notes"].append(text)
        return True

    def begin(self, part, **about):
        """A part of its own, empty when it was measured in another run."""
        self.parts[part] = about | {"rounds": 0, "operations": {}, "seconds": {}, "samples": {}}

    def merge(self, part, other):
        """Adds what another process measured of the part."""
        mine, its = self.parts[part], other.parts.get(part)
        for text in other.data["notes"]:
            self.note(text)
        if its is None:
            return
        samples = self.samples(part)
        for row, subjects in its["samples"].items():
            for subject, values in subjects.items():
                for value in values:
                    samples.add(row, subject, value)
        mine["operations"] |= its["operations"]
        mine["subjects"] = its["subjects"]
        for step, seconds in its["seconds"].items():
            mine["seconds"].setdefault(step, []).extend(seconds)


def history_line(results, part_names, date, whole=True):
    """One line for a run: the medians of the parts that it measured and, of whole parts, how long each step took."""
    parts = {}
    for name in part_names:
        part = results.parts[name]
        samples = results.samples(name)
        medians = {row: {subject: round(samples.median(row, subject), 9)
                         for subject in subjects if samples.values(row, subject)}
                   for row, subjects in samples.rows.items()}
        parts[name] = {"rounds": part["rounds"], "filesystem": part["filesystem"], "medians": medians,
                       "seconds": {step: round(statistics.median(seconds), 1)
                                   for step, seconds in part["seconds"].items() if whole}}
    revisions = sorted({results.parts[name]["revision"] for name in part_names})
    return json.dumps({"date": date, "revision": ", ".join(revisions),
                       "machine": results.data["machine"], "parts": parts})


def step_seconds(file):
    """{"PART/STEP": seconds}: how long each step took in the newest run of the history that had it."""
    found = {}
    for line in file.read_text().splitlines() if file.exists() else []:
        for name, part in json.loads(line)["parts"].items():
            for step, seconds in part["seconds"].items():
                found[f"{name}/{step}"] = seconds
    return found
