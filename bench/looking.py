"""What is asked for while a task is open, the tools of an agent, and what it takes to have seen a tree."""

import os
import statistics
import time

from measures import BEFORE, Measure, TreeMeasure, make_tree, modify, number, tree_file
from subjects import Unavailable, elapsed


class Tools(Measure):
    """An edit of one large file through the server of the Model Context Protocol, and its undo, from request to
    response; and the undo of a step of few files without the start of a program."""

    subjects = ("unwrite",)
    seconds = 4
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
        sections = "".join(f"F {name}\nR 1\n{BEFORE.decode()}.\nchanged\n.\n" for name in names)
        rows = {f"Edit of {few} files, request to response":
                elapsed(lambda: server.call("Edit", patch=f"LP1\n{sections}END\n"))}
        rows[f"Undo of it ({few} files), request to response"] = elapsed(server.call, "Undo")
        return rows


class Look(Measure):
    """What is asked for while a task is open: in a shell's prompt, and about many changed files."""

    subjects = ("unwrite",)
    repeats = 1
    seconds = 12
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


class Memory(TreeMeasure):
    """Resident memory of the serving process after everything was looked at once."""

    subjects = ("unwrite", "fuse-overlayfs", "mergerfs")
    repeats = 1

    def prepare(self, raw):
        make_tree(raw, self.count, b"")

    def once(self, subject):
        processes = subject.processes()
        if not processes:
            raise Unavailable("its process was not found")
        seconds = elapsed(walk, subject.path)
        return {f"first walk over {number(self.count)} files": seconds,
                f"memory after {number(self.count)} files (MiB)":
                    max(resident(process) for process in processes)}


def walk(folder):
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                walk(entry.path)
            entry.stat(follow_symlinks=False)


def resident(process):
    """MiB"""
    with open(f"/proc/{process}/status", encoding="ascii", errors="replace") as file:
        for line in file:
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
    return 0.0
