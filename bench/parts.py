"""The parts of a run. Each is a list of steps, of which each takes some seconds and can be the last one.

    disk, tmpfs             workloads.sh in each subject's directory, on a disk and in memory
    user-disk, user-tmpfs   the same for a user without privileges
    back                    what going back costs: measures.py and looking.py
    scaling                 how it grows: scaling.py
"""

import os
import re
import shutil
import signal
import statistics
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import scaling
import users
from looking import Look, Memory, Tools
from measures import (Checkpoint, Commit, DiscardCreated, DiscardModified, DiscardRemoved, FirstWrite, Round, Sizes,
                      Start, Undo)
from report import filesystem
from results import Samples
from subjects import SUBJECTS, Unavailable

HERE = Path(__file__).resolve().parent
# What the workloads take in seconds, all groups, until a run has said it (results.step_seconds).
WORK_SECONDS = {"native": 25, "unwrite": 45, "unwrite-passthrough": 45, "overlayfs": 25, "fuse-overlayfs": 60,
                "mergerfs": 50}
TINY = 0.3
# Workloads whose operation is one file of the tree.
PER_FILE = re.compile(r"untar|find_ls_\w+|rg_\d|grep_r|cp_a|rm_rf|git_clone|git_status_\w+")
PER_EDIT = {"git_add_commit": 300, "git_checkout": 300}


def operations(row, files):
    """How many operations the workload makes, or None where a count says nothing."""
    if PER_FILE.fullmatch(row):
        return files
    counted = re.search(r"_(\d{3,})$", row)
    return int(counted[1]) if counted else PER_EDIT.get(row)


@dataclass
class Step:
    key: str
    estimate: float
    run: Callable[[], None]


class Part:
    """Steps in a folder of its own. `bench` has what all parts share: options, results, note()."""

    def __init__(self, name, bench, folder):
        self.name, self.bench, self.folder = name, bench, folder
        self.for_users = name.startswith("user-")
        self.options = bench.options
        self.count = 0
        self.places = None
        self.subjects = [kind for kind in SUBJECTS
                         if (kind.name in self.options.only if self.options.only
                             else self.options.peers or not kind.peer)
                         and (kind.for_users or not self.for_users)]

    def estimate(self, key, otherwise):
        measured = self.bench.results.parts.get(self.name, {}).get("seconds", {}).get(key)
        if measured:
            return statistics.median(measured)
        known = None if self.options.tiny else self.bench.known_seconds.get(f"{self.name}/{key}")
        return known or otherwise * (TINY if self.options.tiny else 1)

    def steps(self, round_number):
        raise NotImplementedError

    def open(self):
        """Before the first step that is run."""
        # Directories below a "top of hierarchy" are spread over the disk by ext4, so that one
        # subject's files do not crowd another's.
        self.places = self.folder / f"places-{self.name}"
        self.places.mkdir(parents=True)
        subprocess.run(["chattr", "+T", str(self.places)], check=False,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.subjects = [kind for kind in self.subjects if self.can_start(kind)]
        self.begin()

    def begin(self):
        self.bench.begin(self.name, filesystem=filesystem(self.places or self.folder),
                         user="a user" if self.for_users or os.geteuid() else "root",
                         subjects=[kind.name for kind in self.subjects])

    @property
    def samples(self):
        return self.bench.results.samples(self.name)

    def new(self, kind):
        self.count += 1
        return kind(self.places / f"{kind.name}-{self.count}")

    def can_start(self, kind):
        instance = None
        try:
            instance = self.new(kind)
            instance.start()
        except (Unavailable, RuntimeError, OSError) as error:
            self.bench.note(f"{self.name}: {kind.name} is left out: {error}")
            return False
        finally:
            self.remove(instance)
        return True

    def remove(self, instance):
        if instance:
            try:
                instance.remove()
            except (OSError, RuntimeError) as error:
                self.bench.note(f"{self.name}: after {instance.name}: {error}")

    def in_turn(self, round_number):
        """The subjects, beginning with another one each round."""
        shift = round_number % max(len(self.subjects), 1)
        return self.subjects[shift:] + self.subjects[:shift]


class Work(Part):
    def steps(self, round_number):
        quicker = 0.6 if self.name.endswith("tmpfs") else 1
        return [Step(kind.name, self.estimate(kind.name, WORK_SECONDS[kind.name] * quicker),
                     lambda kind=kind: self.work(kind))
                for kind in self.in_turn(round_number)] if self.options.groups else []

    def work(self, kind):
        instance = self.new(kind)
        try:
            instance.start()
            for row, value in self.rows(instance):
                self.samples.add(row, kind.name, value)
        finally:
            self.remove(instance)
        self.count_operations()

    def rows(self, instance):
        """(workload, seconds or "fail") as they come."""
        environment = os.environ | {
            "BENCH_ASSETS": str(self.bench.assets), "BENCH_FIO_MB": "64" if self.options.tiny else "1024",
            "BENCH_DROP": "1" if os.geteuid() == 0 and not self.options.tiny else "0"}
        # A session of its own: whatever it started ends with it when this is interrupted.
        work = subprocess.Popen([str(HERE / "workloads.sh"), str(instance.path), *self.options.groups], cwd="/",
                                env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True)
        try:
            for line in work.stdout:
                row, value = line.strip().rsplit(",", 1)
                yield row, value if value == "fail" else float(value)
            work.wait()
        except BaseException:
            os.killpg(work.pid, signal.SIGKILL)
            work.wait()
            raise

    def count_operations(self):
        names = self.bench.assets / "list"
        files = len(names.read_bytes().splitlines()) if names.exists() else None
        about = self.bench.results.parts[self.name]
        about["operations"] = {row: operations(row, files) for row in about["samples"]}


class Back(Part):
    def steps(self, round_number):
        sizes = (Sizes.tiny() if self.options.tiny else Sizes.long() if self.options.long else Sizes())
        return [Step(measure.key, self.estimate(measure.key, measure.seconds),
                     lambda measure=measure: self.measure(measure, round_number))
                for measure in all_measures(sizes)
                if self.options.measures is None or type(measure).__name__ in self.options.measures]

    def measure(self, measure, round_number):
        instances = {}
        try:
            for kind in self.subjects:
                if measure.subjects is None or kind.name in measure.subjects:
                    instance = instances[kind] = self.new(kind)
                    measure.prepare(instance.raw)
                    instance.start()
            for repeat in range(measure.repeats):
                for kind in self.in_turn(round_number + repeat):
                    if kind in instances:
                        self.once(measure, kind, instances)
        finally:
            for instance in instances.values():
                self.remove(instance)

    def once(self, measure, kind, instances):
        try:
            for row, value in measure.once(instances[kind]).items():
                self.samples.add(row, kind.name, value)
        except (OSError, RuntimeError, Unavailable) as error:
            self.bench.note(f"{measure.key} of {kind.name}: {error}")
            self.samples.add(measure.key, kind.name, "fail")
            self.remove(instances.pop(kind))


def all_measures(sizes):
    yield Start(sizes)
    for count in sizes.trees:
        yield Checkpoint(sizes, count)
    for kind in (FirstWrite, Undo, Round, Tools, Commit, Look, DiscardModified, DiscardRemoved, DiscardCreated):
        yield kind(sizes)
    for count in sizes.walked:
        yield Memory(sizes, count)


class Scaling(Part):
    def steps(self, round_number):
        if round_number:
            return []
        found = []
        for kind in scaling.AXES:
            axis = kind(self.options.tiny, self.options.long)
            found += [Step(f"{axis.name} {size}", self.estimate(f"{axis.name} {size}", axis.seconds(size)),
                           lambda axis=axis, size=size: self.point(axis, size)) for size in axis.sizes]
        return found

    def open(self):
        super().open()
        scaling.Threads.program = scaling.build_writers(self.places)

    def point(self, axis, size):
        made, found = [], {}

        def new(kind):
            made.append(self.new(kind))
            return made[-1]

        try:
            axis.point(size, new, found)
        except (OSError, RuntimeError, subprocess.CalledProcessError) as error:
            self.bench.note(f"{axis.name}, {size}: {error}")
        finally:
            for quantity, values in found.items():
                for value in values:
                    self.samples.add(scaling.row(axis.name, quantity), str(size), value)
            for instance in made:
                self.remove(instance)


class ByUser(Part):
    """A part that root has another one measure."""

    def steps(self, round_number):
        inner = Work(self.name, self.bench, self.folder).steps(round_number)
        return [Step("all", sum(step.estimate for step in inner), self.run)] if inner else []

    def open(self):
        self.begin()

    def run(self):
        try:
            users.measure(self.bench, self.name, self.folder)
        except Unavailable as error:
            self.bench.note(f"{self.name} is left out: {error}")


def make(name, bench):
    """The part of that name, or None with a note."""
    folder = bench.folder(name)
    if folder is None:
        bench.note(f"{name} is left out: there is no tmpfs; name a directory with --tmpfs")
        return None
    if name == "back":
        return Back(name, bench, folder)
    if name == "scaling":
        return Scaling(name, bench, folder)
    if os.geteuid() and not name.startswith("user-"):
        bench.note(f"{name} is left out: it needs root")
        return None
    root_for_user = name.startswith("user-") and os.geteuid() == 0
    return (ByUser if root_for_user else Work)(name, bench, folder)


def missing_programs():
    """What workloads.sh silently leaves out."""
    for program, package, rows in (("rg", "ripgrep", "rg_1 and rg_2"), ("fio", "fio", "the rows of fio")):
        if not shutil.which(program):
            yield f"{rows} are left out: {program} is not installed; on Debian: apt-get install {package}"
