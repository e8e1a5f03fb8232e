"""What going back costs: checkpoints, undo, discard, commit, memory.

A measure is a class. `prepare` fills the raw directory once per subject, before the subject
starts; `once` is one repeat and returns {row: seconds or bytes}. Repeats of all subjects are
interleaved, and each leaves the subject as it found it.
"""

import os
import shutil
import statistics
import time
from dataclasses import dataclass

from subjects import Native, Unavailable, Unwrite, elapsed, run

PER_FOLDER = 500


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

    @staticmethod
    def tiny():
        return Sizes(trees=(20, 200), walked=(500,), big_file=8 << 20, removed=200, created=300,
                     modified=50, looked_at=100)

    @staticmethod
    def long():
        return Sizes(trees=(100, 10_000, 1_000_000), walked=(10_000, 1_000_000))


def number(value):
    return f"{value:,}"


def tree_file(top, index):
    return os.path.join(top, "tree", f"d{index // PER_FOLDER}", f"f{index}")


def make_tree(top, count, text=b"what was here before\n"):
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


class Measure:
    subjects = None   # names, when not all of them

    def __init__(self, sizes):
        self.sizes = sizes

    def prepare(self, raw):
        """Fills the directory before the subject starts."""

    def once(self, subject):
        raise NotImplementedError


class Checkpoint(Measure):
    """A checkpoint after one changed file, beside the copy that it replaces."""

    subjects = ("native", "unwrite")

    def __init__(self, sizes, count):
        super().__init__(sizes)
        self.count = count

    def prepare(self, raw):
        make_tree(raw, self.count)

    def once(self, subject):
        modify(subject.path, 1, os.urandom(8))
        if isinstance(subject, Unwrite):
            row = f"checkpoint, {number(self.count)} files"
            rows = {row: elapsed(subject.command, "checkpoint")}
            modify(subject.path, 1, os.urandom(8))
            with subject.connect() as connection:
                subject.ask(connection, "info")
                rows[f"{row}, in the daemon"] = elapsed(subject.ask, connection, "checkpoint")
            return rows
        if self.count > 10_000:
            return {}
        copy = subject.home / "copy"
        seconds = elapsed(run, "cp", "-a", subject.path / "tree", copy)
        shutil.rmtree(copy)
        return {f"cp -a of {number(self.count)} files": seconds}


class FirstWrite(Measure):
    """4 KiB into the middle of a large file that existed before."""

    def prepare(self, raw):
        block = os.urandom(1 << 20)
        with open(raw / "big", "wb") as file:
            for _ in range(self.sizes.big_file >> 20):
                file.write(block)
            os.fsync(file.fileno())

    def once(self, subject):
        middle = self.sizes.big_file // 2

        def write():
            descriptor = os.open(subject.path / "big", os.O_RDWR)
            os.pwrite(descriptor, b"x" * 4096, middle)
            os.close(descriptor)

        size = f"{self.sizes.big_file >> 20:,} MiB"
        rows = {f"first 4 KiB write into {size}": elapsed(write),
                f"second 4 KiB write into {size}": elapsed(write)}
        if not isinstance(subject, Native):
            subject.discard()
        return rows


class Undo(Measure):
    subjects = ("unwrite",)

    def prepare(self, raw):
        make_tree(raw, self.sizes.trees[1])

    def once(self, subject):
        subject.command("checkpoint")
        modify(subject.path, self.sizes.small_step)
        seconds = elapsed(subject.command, "undo")
        if content(subject.path, 0) != b"what was here before\n":
            raise RuntimeError("undo did not bring the file back")
        return {f"undo of {self.sizes.small_step} files": seconds}


class Tools(Measure):
    """An edit of one large file through the server of the Model Context Protocol, and its undo, from request to
    response; and the undo of a step of few files without the start of a program."""

    subjects = ("unwrite",)
    lines = 2_000

    def prepare(self, raw):
        make_tree(raw, self.sizes.small_step)
        with open(raw / "large", "w", encoding="ascii") as file:
            for line in range(self.lines):
                file.write(f"{line:099d}\n")

    def once(self, subject):
        server = subject.tools()
        try:
            server.call("Read", path="large")
            time.sleep(0.1)  # the server prepares for an edit while its client thinks
            rows = {}
            for row, name, arguments in (
                    ("Edit of a 200 kB file", "Edit",
                     {"path": "large", "old_snippet": f"{self.lines // 2:099d}",
                      "new_snippet": "changed"}),
                    ("Undo of it", "Undo", {})):
                rows[f"{row}, request to response"] = elapsed(
                    lambda name=name, arguments=arguments: server.call(name, **arguments))
            rows |= self.patched(server, subject.path)
        finally:
            server.end()
        with subject.connect() as connection:
            subject.ask(connection, "checkpoint")
            modify(subject.path, self.sizes.small_step)
            rows[f"undo of {self.sizes.small_step} files, in the daemon"] = elapsed(
                subject.ask, connection, "undo")
        return rows


    def patched(self, server, path):
        few = self.sizes.small_step
        names = [os.path.relpath(tree_file(path, index), path) for index in range(few)]
        for name in names:
            server.call("Read", path=name)
        sections = "".join(f"F {name}\nR 1\nwhat was here before\n.\nchanged\n.\n" for name in names)
        rows = {f"Edit of {few} files, request to response":
                elapsed(lambda: server.call("Edit", patch=f"LP1\n{sections}END\n"))}
        rows[f"Undo of it ({few} files), request to response"] = elapsed(server.call, "Undo")
        return rows


class Discard(Measure):
    """`change` the tree, then take it all back."""

    subjects = ("unwrite", "overlayfs", "fuse-overlayfs")

    def prepare(self, raw):
        make_tree(raw, self.files())

    def files(self):
        return self.sizes.modified

    def once(self, subject):
        row, function, *arguments = self.change(subject)
        rows = {row: elapsed(function, *arguments),
                f"discard after: {row}": elapsed(subject.discard)}
        if content(subject.path, 0) != b"what was here before\n" or \
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
    def change(self, subject):
        return (f"modify {number(self.sizes.modified)} files", modify, subject.path,
                self.sizes.modified)


class Commit(Measure):
    subjects = ("unwrite",)

    def prepare(self, raw):
        make_tree(raw, self.sizes.modified)

    def once(self, subject):
        modify(subject.path, self.sizes.modified, os.urandom(8))
        what = f"with {number(self.sizes.modified)} files modified"
        rows = {f"status {what}": elapsed(subject.command, "status"),
                f"commit {what}": elapsed(subject.command, "commit")}
        return rows


class Look(Measure):
    """What is asked for while a task is open: in a shell's prompt, and about many changed files."""

    subjects = ("unwrite",)
    PROMPTS = 20

    def prepare(self, raw):
        make_tree(raw, self.sizes.looked_at)

    def once(self, subject):
        rows = {f"status --line, {self.sizes.small_step} files modified": self.prompts(subject)}
        modify(subject.path, self.sizes.looked_at, os.urandom(8))
        what = f"with {number(self.sizes.looked_at)} files modified"
        # A prompt after all of it, and the prompts after the next commands.
        rows[f"status --line, the first {what}"] = elapsed(subject.command, "status", "--line")
        rows[f"status --line {what} and {self.sizes.small_step} since the last"] = self.prompts(subject)
        for words in (("status",), ("diff", "--stat"), ("diff",)):
            rows[f"{' '.join(words)} {what}"] = elapsed(subject.command, *words)
        subject.discard()
        return rows


    def prompts(self, subject):
        """The median of some prompts in a row, each after a command that wrote."""
        times = []
        for _ in range(self.PROMPTS):
            modify(subject.path, self.sizes.small_step, os.urandom(8))
            times.append(elapsed(subject.command, "status", "--line"))
        return statistics.median(times)


class Start(Measure):
    """The cost of starting the program, which every row above includes once."""

    subjects = ("unwrite",)

    def once(self, subject):
        return {"(unwrite --version)": elapsed(subject.command, "--version")}


class Memory(Measure):
    """Resident memory of the serving process after everything was looked at once."""

    subjects = ("unwrite", "fuse-overlayfs")

    def __init__(self, sizes, count):
        super().__init__(sizes)
        self.count = count

    def prepare(self, raw):
        make_tree(raw, self.count, b"")

    def once(self, subject):
        processes = subject.processes()
        if not processes:
            raise Unavailable("its process was not found")

        def walk(folder):
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        walk(entry.path)
                    entry.stat(follow_symlinks=False)

        seconds = elapsed(walk, subject.path)
        return {f"first walk over {number(self.count)} files": seconds,
                f"memory after {number(self.count)} files (MiB)":
                    max(resident(process) for process in processes)}


def resident(process):
    with open(f"/proc/{process}/status", encoding="ascii", errors="replace") as file:
        for line in file:
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
    return 0.0


def all_measures(sizes):
    """(measure, repeats are possible)"""
    yield Start(sizes), True
    for count in sizes.trees:
        yield Checkpoint(sizes, count), True
    yield FirstWrite(sizes), True
    yield Undo(sizes), True
    yield Tools(sizes), True
    yield DiscardRemoved(sizes), True
    yield DiscardCreated(sizes), True
    yield DiscardModified(sizes), True
    yield Commit(sizes), True
    yield Look(sizes), True
    for count in sizes.walked:
        yield Memory(sizes, count), False
