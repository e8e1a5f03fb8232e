"""Clients of `unwrite mcp` that are killed in the middle of an edit. Used by tools.sh."""

import errno
import json
import os
import shutil
import subprocess
import sys
import time

from tools_client import Client, check, get, lp1, put, replace


def wait_for(what):
    """A killed daemon ends a moment later than its connections; until then it is mounted."""
    for _ in range(2000):
        if what():
            return
        time.sleep(0.01)
    check(False, what)


def is_dead(directory):
    try:
        os.statvfs(directory)  # a stat may be answered from what the kernel remembers
    except OSError as error:
        return error.errno == errno.ENOTCONN
    return False


def made_whole(program, directory, daemon, way):
    """What finds an edit half done and makes it whole; answers with the daemon that serves now."""
    def run(*words):
        done = subprocess.run([program, "-C", directory, "--json", *words], cwd="/", check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        check(done.returncode == 0, (words, done.returncode, done.stdout, done.stderr))
        return json.loads(done.stdout) if done.stdout.startswith(b"{") else None

    def mount():
        return int(run("mount", directory)["pid"])

    if way.startswith("commit"):
        done = subprocess.run([program, "-C", directory, *way.split(), "--yes"], cwd="/", check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        check(done.returncode in (0, 3), (way, done))
        return daemon
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
        wait_for(lambda: is_dead(directory))
        return mount()
    run("unmount", directory)
    if way == "recover without a mount":
        run("recover", "--keep")
        check_tree(directory)
    return mount()


NAMES = ("k1", "k2", "new/deep/k3")
PATCH = lp1(**{"k1": replace("old", "new"), "k2": replace("old", "new"),
               "new/deep/k3": "T\nmade\n.\n"})
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
    if os.environ.get("UNWRITE_DATA_PATH") != "passthrough":  # which keeps no other name (decision 0083)
        check(get(os.path.join(directory, "k2-linked")) == now[1], "each name of a file has the same text")
    return now


def killed(program, directory, daemon, parts, part):
    """A kill at every point of an edit of three files, and of its Undo: all or nothing, whoever
    comes next."""
    daemon = int(daemon)
    ways = ["the next edit", "recover", "a mount", "a mount after the daemon's death",
            "recover without a mount", "commit", "commit k1"]
    half = 0
    points = ["edit.begun:1"] + [f"edit.prepared:{n}" for n in range(1, 5)] + \
        [f"edit.file:{n}" for n in range(1, 6)] + [f"edit.written:{n}" for n in range(1, 5)] + \
        [f"undo.prepare:{n}" for n in range(1, 4)] + [f"undo.file:{n}" for n in range(1, 5)]
    cases = [(point, way) for point in points for way in ways]
    for point, way in cases[int(part)::int(parts)]:
        os.chdir(directory)
        furnish(directory)
        client = Client(program, directory, "modern", environment={"UNWRITE_CRASH_AT": point})
        for name in NAMES[:2]:
            client.text("Read", path=name)
        answer = client.request("tools/call", {"name": "Edit", "arguments": {"patch": PATCH}})
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


CALLS = ("openat", "pwrite64", "fsync", "mkdirat", "renameat", "renameat2", "unlinkat", "sendto",
         "recvfrom")


def furnish(directory):
    shutil.rmtree(os.path.join(directory, "new"), ignore_errors=True)
    for name in NAMES[:2]:
        put(os.path.join(directory, name), b"old\n")
    if not os.path.exists(os.path.join(directory, "k2-linked")):
        os.link(os.path.join(directory, "k2"), os.path.join(directory, "k2-linked"))


def edit_and_undo(program, directory, around):
    """An edit of three files and its Undo, as far as they get."""
    os.chdir(directory)
    client = Client(program, directory, "modern", around=around)
    # Where the calls come in other numbers than they were counted, the kill may be in a Read.
    calls = [("Read", {"path": name}) for name in NAMES[:2]] + [("Edit", {"patch": PATCH}), ("Undo", {})]
    answers = []
    try:
        for tool, arguments in calls:
            if None not in answers:
                answers.append(client.request("tools/call", {"name": tool, "arguments": arguments}))
        client.process.stdin.close()
    except BrokenPipeError:  # it ended between two calls
        answers.append(None)
    client.process.wait(30)
    return answers


def calls_of(program, directory, log):
    """Every system call of these two that changes a file or speaks with the daemon: its name, and the how manieth of
    that name it is."""
    strace = ("strace", "-f", "-qq", "-o", log, "-e", "trace=flock," + ",".join(CALLS))
    furnish(directory)
    answers = edit_and_undo(program, directory, strace)
    check(all(not answer["result"]["isError"] for answer in answers), answers)
    seen, cases = {}, []
    with open(log, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            name = line.split()[1].split("(")[0]
            seen[name] = seen.get(name, 0) + 1
            if "flock" in seen and name in CALLS:  # an edit begins with the lock
                cases.append((name, seen[name]))
    return cases


def ended_at(program, directory, call, sent):
    """The signal arrives at this call of an edit and its Undo; what the files are then."""
    name, count = call
    furnish(directory)
    answers = edit_and_undo(program, directory, (
        "strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={name}", "-e",
        f"inject={name}:signal={sent}:when={count}"))
    check(None in answers, (name, count, sent, "it ended"))
    return [get(path) if os.path.exists(path) else None for path in NAMES]


def killed_at_calls(program, directory, log):
    """The same, killed at every such call: the kernel is left with what was done before it."""
    half = 0
    cases = calls_of(program, directory, log)
    for call in cases:
        left = ended_at(program, directory, call, "KILL")
        made_whole(program, directory, 0, "the next edit")
        check_tree(directory)
        half += left not in (OLD, NEW)
    print(len(cases), "kills,", half, "left it half done")
    check(half > 1, "some kills left it half done")
    os.chdir("/")
    subprocess.run([program, "unmount", directory], check=True)


def signalled_at_calls(program, directory, log):
    """A signal that a program may hold back: nothing is half done, whoever looks, and a commit keeps that. Each call
    with one of the signals, or with all if UNWRITE_LONG is set."""
    signals = ("INT", "TERM", "HUP")
    stood = []
    for number, call in enumerate(calls_of(program, directory, log)):
        for sent in signals if "UNWRITE_LONG" in os.environ else (signals[number % 3],):
            left = ended_at(program, directory, call, sent)
            check(left in (OLD, NEW), (call, sent, left))
            check_tree(directory)
            made_whole(program, directory, 0, "commit")
            check(check_tree(directory) == left, (call, sent, "after a commit"))
            stood.append(left == NEW)
    print(len(stood), "signals, the edit stood", sum(stood), "times")
    check(0 < sum(stood) < len(stood), "some waited for the edit, some for its Undo")
    os.chdir("/")
    subprocess.run([program, "unmount", directory], check=True)


def daemon_killed(program, directory, passed):
    """The daemon dies at a point of the same (every third, unless UNWRITE_LONG is set)."""
    def mount(**environment):
        furnish(directory)
        subprocess.run([program, "-C", directory, "commit", "--yes"], check=False, cwd="/",
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        subprocess.run([program, "mount", directory], check=True, cwd="/", stderr=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, env={**os.environ, **environment})

    def serves():
        """It may be dying still, and then seem to be mounted."""
        words = ([program, "mount", directory], [program, "-C", directory, "status"])
        codes = [subprocess.run(line, cwd="/", check=False, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL).returncode for line in words]
        return codes in ([0, 0], [3, 0])

    def points():
        with open(passed, encoding="ascii") as names:
            return len(names.readlines())

    def unmount():
        os.chdir("/")
        subprocess.run([program, "unmount", directory], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)

    mount(UNWRITE_CRASH_LIST=passed)
    first = points()
    edit_and_undo(program, directory, ())
    last = points()
    unmount()
    check(last > first + 30, (first, last))
    deaths = stood = 0
    for point in range(first + 1, last + 1, 1 if "UNWRITE_LONG" in os.environ else 3):
        mount(UNWRITE_CRASH_AT=f"*:{point}")
        answers = edit_and_undo(program, directory, ())
        os.chdir("/")
        failed = [answer["result"]["structuredContent"] for answer in answers if answer["result"]["isError"]]
        deaths += bool(failed)
        for one in failed:
            knows = "Nothing was done. Ask the user: `unwrite mount", "Then call Read for the files: they have all of"
            check(any(words in one["next"] for words in knows), one)
        wait_for(serves)
        stood += check_tree(directory) == NEW
        unmount()
    print(deaths, "deaths, the edit stood", stood, "times")
    check(deaths > 20 and 0 < stood < deaths, "some deaths before its end, some after")


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
