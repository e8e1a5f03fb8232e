"""The part of bench/ that only computes: how times grow, targets, tables, pictures, what is kept of a run."""

import json
import math
import os
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

sys.path.insert(0, os.path.join(os.environ["UNWRITE_SOURCE_DIR"], "bench"))
import fit  # noqa: E402
import parts  # noqa: E402
import plots  # noqa: E402
import report  # noqa: E402
import scaling  # noqa: E402
import svg  # noqa: E402
import targets  # noqa: E402
from results import Results, Samples, history_line, step_seconds  # noqa: E402


def work(part="disk", **rows):
    """Results of one part: row -> {subject: [values]}."""
    results = Results()
    results.begin(part, filesystem="ext4", user="root", command="bench/run", revision="abc", date="2026-01-01",
                  subjects=["unwrite", "native"])
    for row, subjects in rows.items():
        for subject, values in subjects.items():
            for value in values:
                results.samples(part).add(row, subject, value)
    results.parts[part]["operations"] = {row: parts.operations(row, 5000) for row in rows}
    results.parts[part]["rounds"] = 1
    return results


def verdicts(results, *wanted):
    return targets.judge(results, list(wanted))


class Growth(unittest.TestCase):
    SIZES = (100, 1_000, 10_000, 100_000)

    def growth(self, function):
        return fit.growth([(size, function(size)) for size in self.SIZES])[1]

    def test_slopes(self):
        for power in (0, 0.5, 1, 2):
            self.assertAlmostEqual(fit.slope([(n, 3e-6 * n ** power) for n in self.SIZES]), power)

    def test_words(self):
        self.assertEqual(self.growth(lambda n: 0.004), "flat")
        self.assertEqual(self.growth(lambda n: 1e-6 * n), "linear")
        self.assertEqual(self.growth(lambda n: 1e-6 * n * math.sqrt(n)), "worse")

    def test_a_fixed_cost_hides_no_growth_of_the_largest(self):
        self.assertEqual(self.growth(lambda n: 0.005 + 1e-6 * n), "linear")

    def test_two_decades_are_looked_at_however_close_the_points_are(self):
        self.assertEqual(fit.growth([(2 ** n, 1.0 if n < 8 else 1.5) for n in range(9)])[1], "flat")
        self.assertEqual(fit.growth([(2 ** n, 2.0 ** n) for n in range(9)])[1], "linear")

    def test_noise_is_flat(self):
        self.assertEqual(fit.growth([(1000, 1.0), (10_000, 1.4), (100_000, 1.1)])[1], "flat")

    def test_too_little_is_nothing(self):
        self.assertEqual(fit.growth([(100, 1.0)]), (None, ""))
        self.assertEqual(fit.growth([(100, 1.0), (100, 2.0)]), (None, ""))
        self.assertEqual(fit.growth([(100, 0.0), (1000, 2.0)]), (None, ""))

    def test_designs(self):
        self.assertTrue(fit.as_designed("flat", "linear"))
        self.assertTrue(fit.as_designed("linear", "linear"))
        self.assertFalse(fit.as_designed("linear", "flat"))
        self.assertFalse(fit.as_designed("worse", "linear"))

    def test_every_axis_has_a_design(self):
        self.assertEqual({axis.name for axis in scaling.AXES}, set(scaling.DESIGN))


class Targets(unittest.TestCase):
    def one(self, results, **target):
        return verdicts(results, target)[0]

    def test_ratio(self):
        results = work(untar={"native": [1.0, 9.0, 1.0], "unwrite": [1.5]})
        self.assertEqual(self.one(results, row="untar", ratio=1.5).word, "met")
        self.assertEqual(self.one(results, row="untar", ratio=1.4).word, "MISSED")

    def test_speed_each_and_most(self):
        results = work(write4k_20000={"native": [1.0], "unwrite": [2.0]})
        self.assertEqual(self.one(results, row="write4k_20000", speed=0.5).word, "met")
        self.assertEqual(self.one(results, row="write4k_20000", speed=0.95).word, "MISSED")
        self.assertEqual(self.one(results, row="write4k_20000", each=1e-4).word, "met")
        self.assertEqual(self.one(results, row="write4k_20000", each=9e-5).word, "MISSED")
        self.assertEqual(self.one(results, row="write4k_20000", most=1.9).word, "MISSED")

    def test_what_is_missing_or_failed_is_not_met(self):
        results = work(untar={"native": [1.0], "unwrite": ["fail"]})
        self.assertEqual(self.one(results, row="untar", ratio=1.5).word, "not measured")
        self.assertEqual(self.one(results, row="rm_rf", ratio=1.5).word, "not measured")

    def test_a_user_is_not_asked_for_passthrough(self):
        target = {"row": "untar", "ratio": 2, "subject": "unwrite-passthrough"}
        self.assertEqual(len(verdicts(work("disk"), target)), 1)
        self.assertEqual(verdicts(work("user-disk"), target), [])
        self.assertEqual(verdicts(work("tmpfs"), target), [])

    def test_a_user_has_a_best_of_his_own(self):
        target = {"row": "untar", "ratio": 2, "seen": "1.5x", "seen_user": "1.3x"}
        self.assertEqual(verdicts(work("disk"), target)[0].seen, "1.5x")
        self.assertEqual(verdicts(work("user-disk"), target)[0].seen, "1.3x")

    def test_the_largest_of_a_curve(self):
        row = "files in the tree: walk"
        results = work("scaling", **{row: {"100": [1.0], "20000": [7.0], "9": [5.0]}})
        found = self.one(results, parts=["scaling"], row=row, subject="largest", most=6)
        self.assertEqual((found.value, found.word), (7.0, "MISSED"))

    def test_the_file(self):
        for target in targets.load():
            self.assertEqual(len([kind for kind in targets.KINDS if kind in target]), 1, target)
            self.assertLessEqual(set(target.get("parts", [])), set(report.TITLES), target)
            if "each" in target:
                self.assertTrue(parts.operations(target["row"], 5000), target)


class Tables(unittest.TestCase):
    def test_operations(self):
        self.assertEqual(parts.operations("untar", 5000), 5000)
        self.assertEqual(parts.operations("find_ls_2", 5000), 5000)
        self.assertEqual(parts.operations("open_read_close_20000", 5000), 20_000)
        self.assertEqual(parts.operations("git_checkout", 5000), 300)
        self.assertIsNone(parts.operations("make_j2", 5000))
        self.assertIsNone(parts.operations("fio_randread4k", 5000))

    def test_durations(self):
        self.assertEqual([report.duration(s) for s in (2.5e-6, 2.5e-4, 0.0025, 2.5)],
                         ["2.5 us", "250 us", "2.5 ms", "2.50 s"])
        self.assertEqual(report.quantity("memory (MiB)", 12.34), "12.3")

    def test_work(self):
        results = work(append_2000={"native": [0.002], "unwrite": [0.02]}, make_j2={"native": [1.0], "unwrite": ["fail"]})
        text = report.work_table(results, "disk", verdicts(results, {"row": "append_2000", "ratio": 5}))
        self.assertIn("| workload | native | unwrite | target |", text)
        self.assertIn("| append_2000 | 2.0 ms, 1.0 us | 10.00x, 10.0 us | <= 5x MISSED |", text)
        self.assertIn("| make_j2 | 1.00 s | failed |  |", text)

    def test_the_best_is_bold(self):
        results = work(untar={"native": [1.0], "unwrite": [2.0], "mergerfs": [3.0]})
        results.parts["disk"]["subjects"].append("mergerfs")
        self.assertIn("| **2.00x**, 400 us | 3.00x, 600 us |", report.work_table(results, "disk", []))

    def test_growth(self):
        rows = {"files in the tree: checkpoint": {"100": [1.0], "1000": [1.0], "10000": [10.0]},
                "files in the tree: walk": {"100": [1.0], "1000": [10.0]}}
        text = report.growth_tables(Samples(work("scaling", **rows).parts["scaling"]["samples"]))
        self.assertIn("| checkpoint | 1.00 s | 1.00 s | 10.00 s | 0.50 | linear | flat | WORSE |", text)
        self.assertIn("| walk | 1.00 s | 10.00 s | - | 1.00 | linear | linear | as designed |", text)

    def test_a_document_shows_every_picture_that_is_written(self):
        results = work(untar={"native": [1.0], "unwrite": [2.0]})
        results.parts["scaling"] = work("scaling", **{"checkpoints: mount": {"1": [1.0], "10": [2.0]}}).parts["scaling"]
        results.data["machine"], results.data["notes"] = "a machine", ["a note"]
        text = report.document(results)
        self.assertIn("0 of 1 met", text)
        self.assertIn("a machine", text)
        self.assertIn("* a note", text)
        for name in plots.pictures(results):
            self.assertIn(f"(plots/{name}.svg)", text)
        self.assertEqual(text.count("(plots/"), len(plots.pictures(results)))


class Pictures(unittest.TestCase):
    def test_scales(self):
        scale = svg.Scale([2, 500], 0, 300)
        self.assertEqual(scale.ticks(), [1, 10, 100, 1000])
        self.assertAlmostEqual(scale(10), 100)
        self.assertEqual(svg.decades([5, 5]), (0, 1))
        self.assertEqual(svg.decades([10, 10]), (1, 2))
        self.assertEqual(svg.decades([0.001, 1]), (-3, 0))

    def test_they_are_well_formed_and_the_same_again(self):
        for draw in (lambda: svg.dots("a < b", [("row & row", {"x": 2.0})], ["x"], str, {"row & row": [3.0]}),
                     lambda: svg.curves("a < b", "n", {"x & y": [(1, 0.1), (1000, 2.0)]}, str)):
            self.assertEqual(ElementTree.fromstring(draw()).tag, "{http://www.w3.org/2000/svg}svg")
            self.assertEqual(draw(), draw())

    def test_nothing_measured_is_no_picture(self):
        results = work(untar={"native": [1.0]})
        self.assertEqual(plots.pictures(results), {})
        self.assertNotIn("plots/", report.document(results))


class Kept(unittest.TestCase):
    def test_a_run_is_read_again(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "new" / "results.json"
            results = work(untar={"native": [1.0, "fail"]})
            results.save(file)
            again = Results.load(file)
            self.assertEqual(again.data, results.data)
            self.assertTrue(again.samples("disk").failed("untar", "native"))
            self.assertEqual(again.samples("disk").median("untar", "native"), 1.0)
            self.assertEqual(Results.load(Path(folder) / "none").parts, {})

    def test_what_another_process_measured_is_added(self):
        mine, its = work(untar={"native": [1.0]}), work(untar={"native": [3.0], "unwrite": [5.0]})
        its.parts["disk"]["seconds"] = {"native": [20.0]}
        its.note("said")
        mine.merge("disk", its)
        mine.merge("disk", Results())
        self.assertEqual(mine.parts["disk"]["samples"]["untar"], {"native": [1.0, 3.0], "unwrite": [5.0]})
        self.assertEqual(mine.parts["disk"]["seconds"], {"native": [20.0]})
        self.assertEqual(mine.data["notes"], ["said"])

    def test_history(self):
        results = work(untar={"native": [1.0, 2.0, 3.0], "unwrite": ["fail"]})
        results.parts["disk"]["seconds"] = {"native": [10.0, 30.0, 20.0]}
        line = history_line(results, ["disk"], "2026-01-01")
        self.assertNotIn("\n", line)
        self.assertEqual(json.loads(line)["revision"], "abc")
        self.assertEqual(json.loads(line)["parts"]["disk"]["medians"], {"untar": {"native": 2.0}})
        self.assertNotIn("20.0", history_line(results, ["disk"], "2026-01-01", whole=False))
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "history.jsonl"
            self.assertEqual(step_seconds(file), {})
            file.write_text(line + "\n" + line.replace("20.0", "25.0") + "\n")
            self.assertEqual(step_seconds(file), {"disk/native": 25.0})


if __name__ == "__main__":
    unittest.main()
