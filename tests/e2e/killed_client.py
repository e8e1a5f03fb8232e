"""Clients of `unwrite mcp` that are killed in the middle of an edit. Used by tools.sh."""

import json
import os
import shutil
import subprocess
import sys

from tools_client import Client, check, get, lp1, put, replace


def made_whole(program, directory, daemon, way):
    """What finds an edit half done and makes it whole; answers with the daemon that serves now."""
    def run(*words):
        done = subprocess.run([program, "-C", directory, "--json", *words], cwd="/", check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return json.loads(done.stdout) if done.stdout.startswith(b"{") else None

    def mount():
        return int(run("mount", directory)["pid"])

    if way == "the next edit":
        other = Client(program, directory, "modern")
        other.text("Edit", patch=lp1(other="N -\n"))
        other.end()
        return daemon
    if way == "recover":
        run("recover", "--keep")
        return daemon
    os.chdir("/")
    if way == "a mount after the daemon's death":
        os.kill(daemon, 9)
        return mount()
    run("unmount", directory)
    if way == "recover without a mount":
        run("recover", "--keep")
        check_tree(directory)
    return mount()


NAMES = ("k1", "k2", "new/deep/k3")
OLD, NEW = [b"old\n", b"old\n", None], [b"new\n", b"new\n", b"made"]


def check_tree(directory):
    """All or nothing, and nothing else beside it."""
    paths = [os.path.join(directory, name) for name in NAMES]
    now = [get(path) if os.path.exists(path) else None for path in paths]
    check(now in (OLD, NEW), now)
    for place, below, files in os.walk(directory):
        below[:] = [name for name in below if name != ".unwrite"]
        check(not [name for name in files if name.startswith(".unwrite-edit")], (place, files))
    check((now == NEW) == os.path.exists(os.path.join(directory, "new")), "its directories too")
    return now


def killed(program, directory, daemon, parts, part):
    """A kill at every point of an edit of three files, and of its Undo: all or nothing, whoever
    comes next."""
    daemon = int(daemon)
    patch = lp1(**{"k1": replace("old", "new"), "k2": replace("old", "new"),
                   "new/deep/k3": "T\nmade\n.\n"})
    ways = ["the next edit", "recover", "a mount", "a mount after the daemon's death",
            "recover without a mount"]
    half = 0
    points = ["edit.begun:1"] + [f"edit.prepared:{n}" for n in range(1, 5)] + \
        [f"edit.file:{n}" for n in range(1, 6)] + [f"edit.written:{n}" for n in range(1, 5)] + \
        [f"undo.prepare:{n}" for n in range(1, 4)] + [f"undo.file:{n}" for n in range(1, 5)]
    cases = [(point, way) for point in points for way in ways]
    for point, way in cases[int(part)::int(parts)]:
        os.chdir(directory)
        shutil.rmtree("new", ignore_errors=True)
        for name in NAMES[:2]:
            put(name, b"old\n")
        client = Client(program, directory, "modern", environment={"UNWRITE_CRASH_AT": point})
        for name in NAMES[:2]:
            client.text("Read", path=name)
        answer = client.request("tools/call", {"name": "Edit", "arguments": {"patch": patch}})
        undoing = point.startswith("undo")
        if undoing:
            answer = client.request("tools/call", {"name": "Undo", "arguments": {}})
        client.process.stdin.close()
        died = client.process.wait(30) != 0
        check(died == (answer is None), point)
        check(died or point.endswith(("file:5", "prepared:4", "written:4", "undo.prepare:3", "undo.file:4")), point)
        left = [get(name) if os.path.exists(name) else None for name in NAMES]
        half += left not in (OLD, NEW)
        daemon = made_whole(program, directory, daemon, way)
        now = check_tree(directory)
        if not died:
            check(now == (OLD if undoing else NEW), (point, way, "what was done stays"))
        elif left not in (OLD, NEW):
            check(now == (NEW if undoing else OLD), (point, way, "back to its beginning"))
        print(point, way, "half" if left not in (OLD, NEW) else "whole")
    check(half > 0, "some kill left it half done")
    os.chdir("/")
    subprocess.run([program, "unmount", directory], check=True)


if __name__ == "__main__":
    killed(*sys.argv[1:])
