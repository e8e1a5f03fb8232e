"""Edit and Undo beside programs that append to the same file, and interrupted. Used by tools.sh."""

import json
import os
import signal
import subprocess
import sys
import time

from tools_client import Client, check, get, lp1, put

# Appends "NAME N" until its input ends, and says at the end how many such lines were written: with
# a file that it opens each time, or with one that it has open all the time. It rests after each
# twenty lines, or an edit would never find the file as it was read.
WRITER = """
import os, select, sys, time
name, path, keeps = sys.argv[1], sys.argv[2], sys.argv[3] == "keeps"
pause, rest = float(sys.argv[4]), float(sys.argv[5])
flags = os.O_WRONLY | os.O_APPEND
fd = os.open(path, flags)
n = 0
while not select.select([sys.stdin], [], [], 0)[0]:
    if not keeps:
        os.close(fd)
        fd = os.open(path, flags)
    n += 1
    assert os.write(fd, b"%s %d\\n" % (name.encode(), n)) > 0
    time.sleep(pause if n % 20 else rest)
print(n)
"""


def writers(path, kinds, pause, rest):
    return {kind: subprocess.Popen(
        [sys.executable, "-c", WRITER, kind, path, kind, str(pause), str(rest)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for kind in kinds}


def written(running):
    return {kind: int(process.communicate("")[0]) for kind, process in running.items()}


def lines_of(path, kind):
    head = kind.encode() + b" "
    return [int(line[len(head):]) for line in get(path).split(b"\n") if line.startswith(head)]


def first_line(path):
    return get(path).split(b"\n", 1)[0].decode()


def round_of(client, pause, rest, seconds):
    """Edits the first line of "log" again and again, and takes every second edit back at once."""
    running = writers("log", ("opens", "keeps"), pause, rest)
    end = time.monotonic() + seconds
    edited = undone = tries = 0
    while time.monotonic() < end:
        tries += 1
        client.call("Read", path="log", start_line=1, end_line=1)
        answer = client.call("Edit", path="log", old_snippet=first_line("log"), new_snippet=f"head {tries}")
        if answer["isError"]:
            status = answer["structuredContent"]["status"]
            check(status in ("stale_file", "no_match"), answer)
            continue
        edited += 1
        if edited % 2 == 0:
            undone += not client.call("Undo")["isError"]
    counts = written(running)
    print(f"{tries} tries, {edited} edits, {undone} taken back, lines: {counts}")
    for kind, count in counts.items():
        there = lines_of("log", kind)
        lost = sorted(set(range(1, count + 1)) - set(there))
        check(not lost, f"{kind}: {len(lost)} of {count} lines are lost, {lost[:10]}")
        check(there == sorted(there) and len(there) == count, f"{kind}: lines twice or out of order")
    return edited, undone


def appended(program, directory, seconds):
    """Every line whose write returned is in the file, in order and once, whoever edits it."""
    os.chdir(directory)
    client = Client(program, directory, "modern")
    edited = undone = 0
    for pause, rest in ((0.001, 0.05), (0.004, 0.004), (0.05, 0.05)):
        put("log", b"head 0\n")
        one = round_of(client, pause, rest, float(seconds) / 3)
        edited, undone = edited + one[0], undone + one[1]
    # Of one round nothing can be said: on a busy machine a writer may be first at each try.
    check(edited > 0 and undone > 0, f"{edited} edits were done and {undone} taken back")
    client.end()


POINTS = ["edit.begun:1", *(f"edit.{name}:{number}" for name in ("prepared", "file", "written") for number in (1, 2)),
          "edit.file:3", *(f"undo.{name}:{number}" for name in ("prepare", "file") for number in (1, 2)), "undo.file:3"]


def killed_at(point, program, directory, names, text):
    """An edit of these files, or its Undo, that ends at this point; whether it did."""
    client = Client(program, directory, "modern", environment={"UNWRITE_CRASH_AT": point})
    for name in names:
        client.call("Read", path=name, start_line=1, end_line=1)
    patch = lp1(**{name: f"R\n{first_line(name)}\n.\n{text}\n.\n" for name in names})
    answer = client.request("tools/call", {"name": "Edit", "arguments": {"patch": patch}})
    if answer is not None and point.startswith("undo"):
        client.request("tools/call", {"name": "Undo", "arguments": {}})
    client.process.stdin.close()
    return client.process.wait(30) != 0


def in_states(program, directory, path, kind):
    """The lines of this kind that any state has."""
    def told(*words):
        return subprocess.run([program, "-C", directory, *words], check=True, stdout=subprocess.PIPE).stdout

    found = set()
    for entry in json.loads(told("--json", "log", "--all"))["entries"]:
        diff = told("diff", f"root..n{entry['node']['number']}", path).decode().split("\n")
        found.update(int(line.split()[1]) for line in diff if line.startswith(f"+{kind} "))
    return found


def killed_round(program, directory, path, seconds):
    """How many kills left an edit half done, and how many edits by hand were done."""
    names = (path, "other")
    for name in names:
        put(name, b"head 0\n")
    running = writers(path, ("opens", "keeps"), 0.001, 0.05)
    end = time.monotonic() + seconds
    deaths = tries = edits = half = 0
    while time.monotonic() < end:
        tries += 1
        before = [first_line(name) for name in names]
        died = killed_at(POINTS[tries % len(POINTS)], program, directory, names, f"head {tries}")
        deaths += died
        is_half = died and sum(first_line(name) != was for name, was in zip(names, before)) == 1
        half += is_half
        for words in ((["status"], ["edit", "other", "--old", "none", "--new", "x"])[tries % 2],
                      ["edit", path, "--old", first_line(path) + "\n", "--new", f"head by hand {tries}\n"]):
            done = subprocess.run([program, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
            check(done.returncode in (0, 1, 5), (words, done))
            # What is appended meanwhile keeps no half of an edit.
            still = is_half and words[1:2] != [path] and sum(first_line(name) != was for name, was in zip(names, before))
            check(still in (False, 0, 2), (tries, POINTS[tries % len(POINTS)], "a half is left"))
        edits += done.returncode == 0
    counts = written(running)
    print(f"{tries} tries, {deaths} killed, {half} left half done, {edits} edits by hand, lines: {counts}")
    for kind, count in counts.items():
        there = lines_of(path, kind)
        check(there == sorted(set(there)), f"{kind}: lines twice or out of order")
        lost = set(range(1, count + 1)) - set(there)
        if lost:
            print(f"{kind}: {len(lost)} lines are in states alone")
            lost -= in_states(program, directory, path, kind)
        check(not lost, f"{kind}: {len(lost)} of {count} lines are in no state, {sorted(lost)[:10]}")
    return half, edits


def killed(program, directory, seconds):
    """Every line is in the file or in a state, also if an edit or an Undo is killed, whoever comes next."""
    os.chdir(directory)
    length = 10.0  # a longer file would be too large to be edited
    rounds = max(1, round(float(seconds) / length))
    sums = [sum(one) for one in zip(*(killed_round(program, directory, f"log-{number}", float(seconds) / rounds)
                                      for number in range(rounds)))]
    check(all(sums), "some kills left an edit half done, and some edits by hand were done")


FILES = [f"many/{number}" for number in range(80)]


def patch_to(text):
    """All files: whatever they hold becomes `text`."""
    return lp1(**{name: f"R 1\n{get(name).decode()}.\n{text}\n.\n" for name in FILES})


def whole(what):
    held = {get(name) for name in FILES}
    strays = [name for name in os.listdir("many") if not name.isdigit()]
    check(len(held) == 1, f"{what}: a half is left, {held}")
    check(not strays, f"{what}: {strays} are left")
    return held.pop()


def interrupted(program, directory):
    """A signal in the middle of an edit of many files waits; what a kill leaves is taken back."""
    os.chdir(directory)
    os.mkdir("many")
    for name in FILES:
        put(name, b"start\n")
    apply = [program, "-C", directory, "apply", "-"]
    begun = time.monotonic()
    subprocess.run(apply, input=patch_to("timed").encode(), check=True, stdout=subprocess.DEVNULL)
    takes = time.monotonic() - begun
    done = 0
    for number, sent in enumerate((signal.SIGINT, signal.SIGTERM, signal.SIGHUP) * 4):
        text = f"{sent.name} {number}"
        edit = subprocess.Popen(apply, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        edit.stdin.write(patch_to(text).encode())
        edit.stdin.close()
        time.sleep(takes * (number + 1) / 13)
        edit.send_signal(sent)
        edit.wait(60)
        done += whole(f"apply, {sent.name}") == text.encode() + b"\n"
    check(done > 0, "no edit was done")

    for number in range(6):
        client = Client(program, directory, "modern")
        for name in FILES:
            client.call("Read", path=name)
        client.send(client.message("tools/call", {"name": "Edit", "arguments": {
            "patch": patch_to(f"server {number}")}}))
        time.sleep(takes * (number + 1) / 7)
        client.process.send_signal(signal.SIGTERM)
        client.process.wait(60)
        whole("the server, SIGTERM")

    killed = 0
    for number, command in enumerate((["status"], ["commit", "--yes"], ["commit", "many", "--yes"]) * 3):
        before = whole("before")
        edit = subprocess.Popen(apply, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        edit.stdin.write(patch_to(f"killed {number}").encode())
        edit.stdin.close()
        end = time.monotonic() + takes * 4
        while get(FILES[20]) == before and time.monotonic() < end:
            time.sleep(0.001)
        edit.kill()
        edit.wait(60)
        killed += len({get(name) for name in FILES}) > 1
        subprocess.run([program, "-C", directory, *command], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=False)
        whole(" ".join(command))
    check(killed > 0, "no edit was killed half-way")
    print(f"{done} of 12 edits done, {killed} of 9 killed half-way")


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
