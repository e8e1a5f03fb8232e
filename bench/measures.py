"""What going back costs: checkpoints, undo, discard, commit.

A measure is a class. `prepare` fills the raw directory once per subject, before the subject
starts; `once` is one repeat and returns {row: seconds, or what the row's unit in brackets says}.
Repeats of all subjects are interleaved, and each leaves the subject as it found it.
"""

import os
import shlex
import shutil
import statistics
from dataclasses import dataclass

from subjects import Native, Overlay, Unwrite, elapsed, run

PER_FOLDER = 500
BEFORE = b"what was here before\n"   # in every file of a tree


@dataclass
class Sizes:
    """How large everything is; --tiny and --long change it."""

    trees: tuple = (100, 10_000)
    walked: tuple = (10_000, 100_000)
    big_file: int = 1 << 30
    removed: int = 20_000
    created: int = 50_000
    modified: int = 1_000
    small_step: int = 3
    looked_at: int = 10_000
    project: int = 50_000
    round_step: int = 10

    @staticmethod
    def tiny():
        return Sizes(trees=(20, 200), walked=(500,), big_file=8 << 20, removed=200, created=300,
                     modified=50, looked_at=100, project=400)

    @staticmethod
    def long():
        return Sizes(trees=(100, 10_000, 1_000_000), walked=(10_000, 1_000_000))


def number(value):
    return f"{value:,}"


def tree_file(top, index):
    return os.path.join(top, "tree", f"d{index // PER_FOLDER}", f"f{index}")


def make_tree(top, count, text=BEFORE):
    for index in range(count):
        name = tree_file(top, index)
        if index % PER_FOLDER == 0:
            os.makedirs(os.path.dirname(name))
        descriptor = os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
        os.write(descriptor, text)
        os.close(descriptor)


def modify(top, count, text=b"changed"):
    for index in range(count):
        descriptor = os.open(tree_file(top, index), os.O_WRONLY)
        os.pwrite(descriptor, text, 3)
        os.close(descriptor)


def content(top, index):
    with open(tree_file(top, index), "rb") as file:
        return file.read()


OURS = ("unwrite", "unwrite-passthrough")


class Measure:
    subjects = None   # names, when not all of them
    repeats = 3       # in each round, between preparations
    seconds = 2       # about what a round of all subjects takes

    def __init__(self, sizes):
        self.sizes = sizes
        self.key = type(self).__name__

    def prepare(self, raw):
        """Fills the directory before the subject starts."""

    def once(self, subject):
        raise NotImplementedError


class TreeMeasure(Measure):
    """In a tree of so many files."""

    def __init__(self, sizes, count):
        super().__init__(sizes)
        self.count = count
        self.key = f"{self.key}-{count}"
        self.seconds = 3 + count / 2_000


class Checkpoint(TreeMeasure):
    """A checkpoint after one changed file, beside the copy that it replaces."""

    subjects = ("native", *OURS)
    REPEATS = 9   # one by one they differ by how deep the processors slept

    def prepare(self, raw):
        make_tree(raw, self.count)

    def once(self, subject):
        if isinstance(subject, Unwrite):
            row = f"checkpoint, {number(self.count)} files"
            with subject.connect() as connection:
                subject.ask(connection, "info")
                return {row: self.median(subject, subject.command, "checkpoint"),
                        f"{row}, in the daemon": self.median(subject, subject.ask, connection,
                                                             "checkpoint")}
        if self.count > 10_000:
            return {}
        copy = subject.home / "copy"
        seconds = elapsed(run, "cp", "-a", subject.path / "tree", copy)
        shutil.rmtree(copy)
        return {f"cp -a of {number(self.count)} files": seconds}

    def median(self, subject, function, *arguments):
        found = []
        for _ in range(self.REPEATS):
            modify(subject.path, 1, os.urandom(8))
            found.append(elapsed(function, *arguments))
        return statistics.median(found)


class FirstWrite(Measure):
    """4 KiB into the middle of a large file that existed before, from open to close."""

    seconds = 30
    REPEATS = 9   # where none of them costs a copy of the file

    def prepare(self, raw):
        block = os.urandom(1 << 20)
        with open(raw / "big", "wb") as file:
            for _ in range(self.sizes.big_file >> 20):
                file.write(block)
            os.fsync(file.fileno())

    def once(self, subject):
        size = f"{self.sizes.big_file >> 20:,} MiB"
        found = [self.writes(subject)
                 for _ in range(1 if isinstance(subject, Overlay) else self.REPEATS)]
        durable = [self.writes(subject, durable=True)[0] for _ in found]
        rows = {f"first 4 KiB write into {size}": statistics.median(one[0] for one in found),
                f"second 4 KiB write into {size}": statistics.median(one[1] for one in found),
                f"first 4 KiB write into {size}, with fsync": statistics.median(durable)}
        if isinstance(subject, Unwrite):
            rows["journal of a first 4 KiB write (KiB)"] = statistics.median(
                one[2] for one in found)
        return rows

    def writes(self, subject, durable=False):
        """(first, second, KiB that the journal grew by)"""
        def write():
            descriptor = os.open(subject.path / "big", os.O_RDWR)
            os.pwrite(descriptor, b"x" * 4096, self.sizes.big_file // 2)
            if durable:
                os.fsync(descriptor)
            os.close(descriptor)

        ours = isinstance(subject, Unwrite)
        before = subject.journal_bytes() if ours else 0
        first, second = elapsed(write), elapsed(write)
        grown = subject.journal_bytes() - before if ours else 0
        if subject.goes_back:
            subject.discard()
        return first, second, grown / 1024


class Undo(Measure):
    subjects = OURS
    seconds = 5

    def prepare(self, raw):
        make_tree(raw, self.sizes.trees[1])

    def once(self, subject):
        subject.command("checkpoint")
        modify(subject.path, self.sizes.small_step)
        seconds = elapsed(subject.command, "undo")
        if content(subject.path, 0) != BEFORE:
            raise RuntimeError("undo did not bring the file back")
        return {f"undo of {self.sizes.small_step} files": seconds}


class Round(Measure):
    """A checkpoint, a few files written, and all of it undone, as a shell does it in a large tree."""

    subjects = OURS
    seconds = 15

    def prepare(self, raw):
        make_tree(raw, self.sizes.project)

    def once(self, subject):
        count, top = self.sizes.round_step, subject.path
        names = [tree_file(top, index * (self.sizes.project // count)) for index in range(count)]
        program = shlex.quote(str(subject.program))
        script = "\n".join([f"set -e; cd {shlex.quote(str(top))}", f"{program} checkpoint",
                            *(f"echo changed >>{shlex.quote(name)}" for name in names), f"{program} undo"])
        seconds = elapsed(run, "sh", "-c", script)
        if os.path.getsize(names[-1]) != len(BEFORE):
            raise RuntimeError("undo did not bring the files back")
        return {f"checkpoint, write to {count} files of {number(self.sizes.project)}, undo, "
                "from the shell": seconds}


class Discard(Measure):
    """`change` the tree, then take it all back."""

    subjects = ("unwrite", "overlayfs", "fuse-overlayfs")
    repeats = 1
    seconds = 40

    def prepare(self, raw):
        make_tree(raw, self.files())

    def files(self):
        return self.sizes.modified

    def once(self, subject):
        row, function, *arguments = self.change(subject)
        rows = {row: elapsed(function, *arguments),
                f"discard after: {row}": elapsed(subject.discard)}
        if content(subject.path, 0) != BEFORE or \
                os.listdir(subject.path / "tree") == []:
            raise RuntimeError("discard did not bring the files back")
        return rows


class DiscardRemoved(Discard):
    def files(self):
        return self.sizes.removed

    def change(self, subject):
        return (f"rm -rf of {number(self.sizes.removed)} files", run, "rm", "-rf",
                subject.path / "tree")


class DiscardCreated(Discard):
    def change(self, subject):
        (subject.path / "new").mkdir()
        return (f"create {number(self.sizes.created)} files", make_tree, subject.path / "new",
                self.sizes.created)


class DiscardModified(Discard):
    repeats = 3

    def files(self):
        return self.sizes.project

    def change(self, subject):
        return (f"modify {number(self.sizes.modified)} of {number(self.sizes.project)} files", modify,
                subject.path, self.sizes.modified)


class Commit(Measure):
    subjects = OURS
    seconds = 4

    def prepare(self, raw):
        make_tree(raw, self.sizes.modified)

    def once(self, subject):
        what = f"with {number(self.sizes.modified)} files modified"
        modify(subject.path, self.sizes.modified, os.urandom(8))
        rows = {f"status {what}": elapsed(subject.command, "status"),
                f"commit {what}": elapsed(subject.command, "commit", "--yes")}
        modify(subject.path, self.sizes.modified, os.urandom(8))
        with subject.connect() as connection:
            subject.ask(connection, "info")
            rows[f"commit {what}, in the daemon"] = elapsed(subject.ask, connection, "commit")
        return rows


class Start(Measure):
    """The cost of starting the program, which every row above includes once."""

    subjects = ("unwrite",)

    def once(self, subject):
        return {"(unwrite --version)": elapsed(subject.command, "--version")}
