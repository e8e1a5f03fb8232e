"""How times grow with the files in the tree, the changed files, the checkpoints, and the writers at once.

An axis is a class. `point` measures one size on a fresh mount and fills `found`, {quantity: [seconds of one operation,
...]}, as far as it comes.
Everything is asked of the daemon over its socket: the start of a program would hide what grows.
"""

import os
import subprocess
from pathlib import Path

from looking import resident, walk
from measures import PER_FOLDER, make_tree, modify, tree_file
from subjects import Native, Unwrite, elapsed, run

REPEATS = 3
WITH_CONTENT = 100   # of a large tree, so many files are not empty
MEMORY = "memory of a known inode (bytes)"

# What each is meant to do: quantity -> "flat" or "linear" in the size of the axis.
STEADY = {"checkpoint": "flat", "first write": "flat", "status --line": "flat", "status": "flat",
          "undo": "flat", "discard": "flat", "mount": "flat"}
DESIGN = {
    "files in the tree": STEADY | {"walk": "linear", MEMORY: "flat"},
    "changed files": {"checkpoint": "flat", "first write": "flat", "status --line": "flat", "commit": "flat",
                      "the first status --line": "linear", "status": "linear", "undo": "linear",
                      "discard": "linear"},
    # To take everything back passes all states, a mount reads them, and status the intervals between (decision 0027).
    "checkpoints": STEADY | {"status": "linear", "discard": "linear", "mount": "linear"},
    "writer threads": {"write of 4 KiB": "flat", "first write of a block": "flat", "create": "flat",
                       "write of 4 KiB, native": "flat", "create, native": "flat"},
}


def make_large_tree(top, count):
    """Like make_tree, but only the first files have content: a million files of it would not fit into memory."""
    make_tree(top, min(count, WITH_CONTENT))
    for index in range(WITH_CONTENT, count):
        name = tree_file(top, index)
        if index % PER_FOLDER == 0:
            os.makedirs(os.path.dirname(name), exist_ok=True)
        os.mknod(name, 0o100644)


class Asked:
    """The daemon of a mounted subject; what it is asked is timed."""

    def __init__(self, subject):
        self.subject = subject
        self.connection = subject.connect()
        self.ask("info")
        self.turn = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def ask(self, command):
        return elapsed(self.subject.ask, self.connection, command)

    def write(self, index):
        """The first write to a file since the last checkpoint."""
        def put():
            descriptor = os.open(tree_file(self.subject.path, index), os.O_WRONLY)
            os.pwrite(descriptor, self.turn.to_bytes(4, "little"), 0)
            os.close(descriptor)

        self.turn += 1
        return elapsed(put)


def remount(subject):
    subject.stop()
    return elapsed(subject.start)


def common(asked, found):
    """What a small step costs, whatever is around it."""
    for repeat in range(REPEATS):
        found.setdefault("checkpoint", []).append(asked.ask("checkpoint"))
        found.setdefault("first write", []).append(asked.write(repeat))
        asked.ask("count")
        asked.write(repeat + REPEATS)
        found.setdefault("status --line", []).append(asked.ask("count"))
        found.setdefault("status", []).append(asked.ask("status"))
        found.setdefault("undo", []).append(asked.ask("undo"))


class Axis:
    ALWAYS = 1   # seconds for a point of any size

    def __init__(self, tiny, long):
        self.sizes = self.TINY if tiny else self.LONG if long else self.SIZES
        self.most = self.sizes[-1]

    def seconds(self, size):
        """About what a point takes."""
        return self.ALWAYS + size * self.EACH


class Files(Axis):
    name = "files in the tree"
    TINY = (100, 1_000)
    SIZES = (100, 1_000, 10_000, 100_000, 1_000_000)
    LONG = (*SIZES, 2_000_000)
    EACH = 30e-6
    ENOUGH = 10_000   # inodes, to tell their memory from the rest

    def point(self, size, new, found):
        subject = new(Unwrite)
        make_large_tree(subject.raw, size)
        found["mount"] = [elapsed(subject.start)]
        process = subject.processes()[0]
        before = resident(process)
        found["walk"] = [elapsed(walk, subject.path)]
        if size >= self.ENOUGH:
            found[MEMORY] = [(resident(process) - before) * (1 << 20) / size]
        with Asked(subject) as asked:
            common(asked, found)
            for repeat in range(REPEATS):
                asked.write(repeat)
                found.setdefault("discard", []).append(asked.ask("discard"))
        found["mount"] += [remount(subject) for _ in range(REPEATS - 1)]


class Changed(Axis):
    name = "changed files"
    TINY = (1, 10, 100)
    SIZES = (1, 10, 100, 1_000, 10_000, 100_000)
    LONG = SIZES
    EACH = 700e-6

    def point(self, size, new, found):
        subject = new(Unwrite)
        make_tree(subject.raw, size + REPEATS)
        subject.start()
        with Asked(subject) as asked:
            asked.ask("count")
            asked.ask("checkpoint")
            modify(subject.path, size, b"one")
            found["the first status --line"] = [asked.ask("count")]
            for repeat in range(REPEATS):
                found.setdefault("first write", []).append(asked.write(size + repeat))
                found.setdefault("status --line", []).append(asked.ask("count"))
            found["status"] = [asked.ask("status")]
            found["undo"] = [asked.ask("undo")]
            modify(subject.path, size, b"two")
            found["checkpoint"] = [asked.ask("checkpoint")]
            asked.write(0)
            found["discard"] = [asked.ask("discard")]
            modify(subject.path, size, b"end")
            found["commit"] = [asked.ask("commit")]


class Checkpoints(Axis):
    name = "checkpoints"
    TINY = (1, 10, 50)
    SIZES = (1, 10, 100, 1_000, 10_000)
    LONG = SIZES
    EACH = 1e-3

    def point(self, size, new, found):
        subject = new(Unwrite)
        make_tree(subject.raw, WITH_CONTENT)
        subject.start()
        with Asked(subject) as asked:
            for _ in range(size):   # always of the same file: the changed files are another axis
                asked.write(0)
                asked.ask("checkpoint")
        found["mount"] = [remount(subject) for _ in range(REPEATS)]
        with Asked(subject) as asked:
            common(asked, found)
            asked.write(0)
            found["discard"] = [asked.ask("discard")]


class Threads(Axis):
    """Seconds of one operation, the whole work being the same."""

    name = "writer threads"
    TINY = (1, 4)
    SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
    LONG = SIZES
    EACH = 0.02
    ALWAYS = 4
    TOTAL = 16_384
    PASSES = 4   # the threads' start and end are not to be seen in the plain directory
    program = None

    def work(self, what, top, threads, passes=1):
        done = subprocess.run([self.program, what, top, str(threads), str(self.total()), str(passes)], check=True,
                              capture_output=True, text=True)
        return float(done.stdout)

    def total(self):
        return self.TOTAL if self.most > 4 else 512

    def prepare(self, raw, threads):
        content = b"before\n\n" * (4096 // 8 * (self.total() // threads))
        for folder in ("first", "second"):
            for thread in range(threads):
                (raw / folder / f"d{thread}").mkdir(parents=True)
                (raw / folder / f"w{thread}").write_bytes(content)

    def point(self, size, new, found):
        for kind, suffix in ((Unwrite, ""), (Native, ", native")):
            subject = new(kind)
            self.prepare(subject.raw, size)
            subject.start()
            first, second = subject.path / "first", subject.path / "second"
            once = [self.work("write", first, size)]
            if kind is Unwrite:
                found["first write of a block"] = once
            found[f"write of 4 KiB{suffix}"] = [self.work("write", first, size, self.PASSES) for _ in range(REPEATS)]
            found[f"create{suffix}"] = [self.work("create", top, size) for top in (first, second)]


AXES = (Files, Changed, Checkpoints, Threads)


def build_writers(folder):
    program = folder / "writers"
    run("cc", "-O2", "-pthread", "-o", program, Path(__file__).with_name("writers.c"))
    return program


def row(axis, quantity):
    return f"{axis}: {quantity}"


def curves(samples, axis):
    """{quantity: [(size, median), ...]} in the order of the design."""
    found = {}
    for quantity in DESIGN[axis]:
        sizes = samples.rows.get(row(axis, quantity), {})
        points = [(int(size), samples.median(row(axis, quantity), size)) for size in sizes]
        points = sorted((size, value) for size, value in points if value is not None)
        if points:
            found[quantity] = points
    return found
