"""Cuts the power under a mount, again and again, and looks at what is left.

A disk that remembers each write and each flush (recorder.cpp) lies under a filesystem with a workspace. A workload
changes the workspace through the mount and notes each state that was acknowledged. Then the disk is put together as it
was at some write (what was not flushed by then may be missing, in any mixture), mounted, and every state is asked for:

  exact    it came back byte for byte
  refused  the program said that it cannot prove it, and changed nothing
  gone     there is no such state
  wrong    it "came back", and is another one

    power.py --program build/dev/unwrite --recorder build/dev/tests/power/recorder --seed 7 --fs ext4
    power.py ... --keep DIR           keeps the recording there
    power.py ... --replay DIR [--cut N]   the cuts of a recording that was kept, or one of them
"""

import argparse
import collections
import hashlib
import json
import os
import random
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import time

HEADER = struct.Struct("<BQQI")
SIZES = {"ext4": 64, "xfs": 320, "btrfs": 128}
MAKE = {"ext4": ["mkfs.ext4", "-q", "-F"], "xfs": ["mkfs.xfs", "-q", "-f"], "btrfs": ["mkfs.btrfs", "-q", "-f"]}
# Often, so that a short recording has many moments at which a part is on the disk and a part is not.
OPTIONS = {"ext4": "commit=1", "xfs": "nouuid", "btrfs": "commit=1,nodiscard"}
SKIPPED = 77
# A state may be lost that is younger, with a second for the machine to be slow in.
GRACE = 3.0


class Skip(Exception):
    pass


def run(*words, check=True, **more):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
    if check and done.returncode != 0:
        raise RuntimeError(f"{' '.join(words)}: {done.returncode}: {done.stderr.decode(errors='replace')[-2000:]}")
    return done


def tree(top):
    """Everything below `top` that a restore must bring back."""
    found = {}
    for directory, names, files in os.walk(top):
        if directory == top and ".unwrite" in names:
            names.remove(".unwrite")
        for path in [directory] + [os.path.join(directory, name) for name in files]:
            st = os.lstat(path)
            entry = [stat.S_IFMT(st.st_mode), stat.S_IMODE(st.st_mode), st.st_mtime_ns]
            if stat.S_ISREG(st.st_mode):
                with open(path, "rb") as file:
                    entry += [st.st_size, hashlib.blake2b(file.read(), digest_size=12).hexdigest()]
            found[os.path.relpath(path, top)] = entry
    return found


def difference(a, b):
    lines = []
    for path in sorted(set(a) | set(b)):
        if a.get(path) != b.get(path):
            lines.append(f"{path}: {a.get(path)} is {b.get(path)}")
    return lines


def notes_before(states, count, state):
    return any(one is state for one in states[:count])


class Disk:
    """An image, as a loop device, mounted."""

    def __init__(self, image, where, options):
        self.where = where
        os.makedirs(where, exist_ok=True)
        self.loop = run("losetup", "-f", "--show", image).stdout.decode().strip()
        try:
            run("mount", "-o", options, self.loop, where)
        except RuntimeError:
            run("losetup", "-d", self.loop, check=False)
            raise

    def close(self):
        for _ in range(100):
            if run("umount", self.where, check=False).returncode == 0:
                break
            time.sleep(0.05)
        else:
            run("umount", "-l", self.where, check=False)
        run("losetup", "-d", self.loop, check=False)


class Recording:
    def __init__(self, directory):
        self.directory = directory
        self.base = os.path.join(directory, "base")
        self.live = os.path.join(directory, "live")
        self.log = os.path.join(directory, "log")

    def notes(self):
        with open(os.path.join(self.directory, "notes.json")) as file:
            return json.load(file)

    def records(self):
        """(type, time in s, offset, length, position of the bytes in the log)"""
        found = []
        size = os.path.getsize(self.log)
        with open(self.log, "rb") as file:
            at = 0
            while at + HEADER.size <= size:
                file.seek(at)
                kind, when, offset, length = HEADER.unpack(file.read(HEADER.size))
                at += HEADER.size
                found.append((kind, when / 1e9, offset, length, at))
                at += length
        return found

    def put_together(self, records, cut, chance, image):
        """The disk at record `cut`. What was written since the last flush is there as `chance` wants."""
        run("cp", "--sparse=always", self.base, image)
        flushed = max((i for i in range(cut) if records[i][0] == 2), default=0)
        with open(self.log, "rb") as log, open(image, "r+b") as out:
            for i in range(cut):
                kind, _, offset, length, at = records[i]
                if kind != 1 or (i > flushed and chance is not None and chance.random() < 0.5):
                    continue
                log.seek(at)
                out.seek(offset)
                out.write(log.read(length))


class Workload:
    """Changes through the mount at `top`; the names are those of what is there."""

    def __init__(self, top, raw, chance):
        self.top, self.raw, self.chance = top, raw, chance
        self.files = []
        self.made = 0

    def furnish(self):
        for i in range(4):
            os.makedirs(os.path.join(self.top, f"d{i}"))
        for i in range(30):
            self.write(f"d{i % 4}/f{i}", self.text(self.chance.choice([10, 500, 5000, 40000, 150000])))
            self.files.append(f"d{i % 4}/f{i}")

    def text(self, size):
        return self.chance.randbytes(size)

    def write(self, path, text, mode="wb", sync=False):
        with open(os.path.join(self.top, path), mode) as file:
            file.write(text)
            if sync:
                file.flush()
                os.fsync(file.fileno())

    def pick(self):
        return self.chance.choice(self.files)

    def change(self):
        what = self.chance.choice(["over", "over", "over", "append", "anew", "anew", "save", "save", "make", "make",
                                   "remove", "remove", "rename", "rename", "mode", "directory", "sync", "raw"])
        path = self.pick()
        full = os.path.join(self.top, path)
        if what == "over":
            with open(full, "r+b") as file:
                size = os.path.getsize(full)
                file.seek(self.chance.randrange(size + 1))
                file.write(self.text(self.chance.choice([1, 100, 9000])))
        elif what == "append":
            self.write(path, self.text(700), "ab")
        elif what == "anew":
            self.write(path, self.text(self.chance.choice([20, 3000, 60000])))
        elif what == "save":
            self.write(path + ".tmp", self.text(4000), sync=self.chance.random() < 0.3)
            os.rename(full + ".tmp", full)
        elif what == "make":
            self.made += 1
            made = f"d{self.chance.randrange(4)}/m{self.made}"
            self.write(made, self.text(2000))
            self.files.append(made)
        elif what == "remove" and len(self.files) > 15:
            os.unlink(full)
            self.files.remove(path)
        elif what == "rename":
            self.made += 1
            to = f"d{self.chance.randrange(4)}/r{self.made}"
            os.rename(full, os.path.join(self.top, to))
            self.files.remove(path)
            self.files.append(to)
        elif what == "mode":
            os.chmod(full, self.chance.choice([0o600, 0o644, 0o700]))
        elif what == "directory":
            self.made += 1
            os.mkdir(os.path.join(self.top, f"n{self.made}"))
            self.write(f"n{self.made}/in", self.text(50))
        elif what == "sync":
            self.fsync(self.top, path)
        elif what == "raw":
            # The kernel writes files back when it likes, also without what we keep of them.
            self.fsync(f"/proc/self/fd/{self.raw}", path)

    @staticmethod
    def fsync(top, path):
        fd = os.open(os.path.join(top, path), os.O_RDONLY)
        os.fsync(fd)
        os.close(fd)


class Recorder:
    """Makes a recording."""

    def __init__(self, options, fs, mode, seed, directory):
        self.options, self.fs, self.mode, self.seed = options, fs, mode, seed
        self.recording = Recording(directory)
        self.directory = directory
        self.environment = dict(os.environ, HOME=os.path.join(directory, "home"), LC_ALL="C",
                                XDG_CONFIG_HOME=os.path.join(directory, "home/.config"))

    def position(self):
        with open(os.path.join(self.directory, "disk.d/records")) as file:
            return int(file.read())

    def unwrite(self, *words, check=True):
        return run(self.options.program, "-C", self.where, *words, check=check, env=self.environment, cwd="/")

    def prepare(self):
        if os.geteuid() != 0:
            raise Skip("it needs root to mount filesystems")
        make = MAKE[self.fs]
        if shutil.which(make[0]) is None:
            raise Skip(f"there is no {make[0]}")
        base = self.recording.base
        with open(base, "wb") as file:
            file.truncate(SIZES[self.fs] << 20)
        run(*make, base)
        configuration = os.path.join(self.directory, "home/.config/unwrite")
        os.makedirs(configuration)
        if self.mode != "default":
            with open(os.path.join(configuration, "unwrite.toml"), "w") as file:
                file.write(f'durability = "{self.mode}"\n')
        try:
            disk = Disk(base, os.path.join(self.directory, "fs"), OPTIONS[self.fs])
        except RuntimeError as error:
            raise Skip(f"no {self.fs} on a loop device: {error}")
        self.where = os.path.join(self.directory, "fs/w")
        os.mkdir(self.where)
        self.chance = random.Random(self.seed)
        self.work = Workload(self.where, None, self.chance)
        self.work.furnish()
        disk.close()
        run("cp", "--sparse=always", base, self.recording.live)

    def record(self):
        self.prepare()
        disk_directory = os.path.join(self.directory, "disk.d")
        os.mkdir(disk_directory)
        recorder = subprocess.Popen([self.options.recorder, self.recording.live, self.recording.log, disk_directory])
        disk = None
        raw = None
        try:
            for _ in range(200):
                if os.path.exists(os.path.join(disk_directory, "disk")):
                    break
                time.sleep(0.02)
            disk = Disk(os.path.join(disk_directory, "disk"), os.path.join(self.directory, "fs"), OPTIONS[self.fs])
            raw = os.open(self.where, os.O_RDONLY | os.O_DIRECTORY)
            self.work.raw = raw
            self.go()
        finally:
            if raw is not None:
                os.close(raw)
            self.unwrite("unmount", "--force", self.where, check=False)
            if disk:
                disk.close()
            if run("umount", disk_directory, check=False).returncode != 0:
                run("umount", "-l", disk_directory, check=False)
            try:
                recorder.wait(10)
            except subprocess.TimeoutExpired:
                recorder.kill()
        return self.recording

    def go(self):
        run(self.options.program, "mount", self.where, env=self.environment, cwd="/")
        notes = []
        self.quiet = []

        def note(name):
            notes.append({"name": name, "tree": tree(self.where), "position": self.position(), "time": time.time()})

        note("root")
        end = time.time() + self.options.seconds
        number = 0
        while time.time() < end:
            for _ in range(self.chance.randrange(1, 9)):
                self.work.change()
            number += 1
            self.unwrite("checkpoint", f"c{number}")
            note(f"c{number}")
            if self.chance.random() < 0.12 and number > 3:
                self.unwrite("rollback", f"c{number - 2}")
                self.work.files = self.present()
            time.sleep(self.chance.choice([0, 0.02, 0.1, 0.3]))
            if number % 10 == 4:
                time.sleep(3.5)
                self.quiet.append((self.position(), len(notes)))
        for _ in range(5):
            self.work.change()
        self.unwrite("unmount", self.where)
        unmounted = self.position()
        with open(os.path.join(self.directory, "notes.json"), "w") as file:
            json.dump({"fs": self.fs, "mode": self.mode, "seed": self.seed, "states": notes,
                       "quiet": self.quiet, "unmounted": unmounted}, file)

    def present(self):
        return [path for path, entry in tree(self.where).items()
                if entry[0] == stat.S_IFREG and not path.endswith("/in")]


class Cuts:
    """Looks at what cuts left."""

    def __init__(self, options, recording, directory):
        self.options, self.recording, self.directory = options, recording, directory
        self.notes = recording.notes()
        # Nothing was done for more than three seconds, and after a clean end nothing is.
        # By record: how many states there were. (The next ones may not have moved the disk yet.)
        self.quiet = dict(self.notes["quiet"] + [(self.notes["unmounted"], len(self.notes["states"]))])
        self.records = recording.records()
        self.counts = collections.Counter()
        self.late = []
        self.wrong = []
        self.environment = dict(os.environ, HOME=os.path.join(recording.directory, "home"), LC_ALL="C",
                                XDG_CONFIG_HOME=os.path.join(recording.directory, "home/.config"))

    def choose(self, count):
        """At flushes, where most is on the disk, and anywhere."""
        chance = random.Random(self.notes["seed"] + 1)
        first = self.notes["states"][0]["position"]
        flushes = [i + 1 for i, record in enumerate(self.records) if record[0] == 2 and i > first]
        cuts = set(self.quiet)
        while len(cuts) < min(count, len(self.records) - first - 1):
            cuts.add(chance.choice(flushes) if flushes and chance.random() < 0.3
                     else chance.randrange(first + 1, len(self.records)))
        return sorted(cuts)

    def look(self, cut):
        notes = self.notes
        when = self.records[cut - 1][1]
        chance = random.Random(notes["seed"] * 1000003 + cut)
        image = os.path.join(self.directory, "after")
        self.recording.put_together(self.records, cut, chance if chance.random() < 0.5 else None, image)
        states = [state for state in notes["states"] if state["position"] <= cut]
        asked = states[:1] + states[-3:] + chance.sample(states, min(3, len(states)))
        try:
            disk = Disk(image, os.path.join(self.directory, "after.d"), OPTIONS[notes["fs"]])
        except RuntimeError as error:
            self.wrong.append(f"cut {cut}: cannot be mounted: {error}")
            return
        try:
            self.ask(cut, when, asked, os.path.join(disk.where, "w"))
        finally:
            disk.close()
            os.unlink(image)

    def rollback(self, where, *words):
        return run(self.options.program, "-C", where, "rollback", *words, check=False, env=self.environment, cwd="/")

    def ask(self, cut, when, states, where):
        done = set()
        # What a restore had begun is finished, and the rest is recovered.
        run(self.options.program, "-C", where, "status", check=False, env=self.environment, cwd="/")
        for state in states:
            if state["name"] in done:
                continue
            done.add(state["name"])
            before = tree(where)
            result = self.rollback(where, state["name"])
            said = result.stderr.decode(errors="replace")
            if result.returncode not in (0, 3) and "--outside" in said:
                # It may look as if somebody had changed a file meanwhile, and is asked about.
                result = self.rollback(where, state["name"], "--outside")
                said = result.stderr.decode(errors="replace")
            age = when - state["time"]
            after = tree(where)
            if result.returncode in (0, 3):
                lines = difference(state["tree"], after)
                kind = "wrong" if lines else "exact"
            else:
                lines = difference(before, after)
                kind = "gone" if "is neither a state nor a checkpoint" in said else "refused"
                if lines:
                    kind = "wrong"
            self.counts[kind] += 1
            if self.options.verbose:
                print(f"  cut {cut}: {state['name']} ({age:.1f} s old): {kind} {said.strip()[:300]}")
            if kind == "wrong":
                self.wrong.append(f"cut {cut}: {state['name']} ({age:.1f} s old) is wrong: " + "; ".join(lines[:3]))
            is_old = notes_before(self.notes["states"], self.quiet.get(cut, 0), state)
            if is_old and kind not in ("exact", "wrong") and self.notes["mode"] != "process":
                self.late.append(f"cut {cut}: {state['name']} is {kind} at a quiet moment: {said.strip()[:200]}")
            if kind == "gone" and (age > GRACE or self.notes["mode"] == "power"):
                self.late.append(f"cut {cut}: {state['name']} ({age:.1f} s old) is gone: {said.strip()[:200]}")
            if kind == "refused" and self.notes["mode"] == "power":
                self.late.append(f"cut {cut}: {state['name']} ({age:.1f} s old) is refused: {said.strip()[:200]}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--recorder", required=True)
    parser.add_argument("--fs", default="ext4")
    parser.add_argument("--mode", default="default")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--cuts", type=int)
    parser.add_argument("--cut", type=int)
    parser.add_argument("--keep")
    parser.add_argument("--replay")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    options.program = os.path.realpath(options.program)
    options.recorder = os.path.realpath(options.recorder)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    is_long = "UNWRITE_LONG" in os.environ
    options.seconds = options.seconds or (12 if is_long else 4)
    options.cuts = options.cuts or (60 if is_long else 5)
    status = 0
    for seed in range(options.seed, options.seed + (3 if is_long and not options.replay else 1)):
        try:
            status = max(status, one(options, seed))
        except Skip as reason:
            print(f"SKIPPED: {reason}", file=sys.stderr)
            return SKIPPED
    return status


def one(options, seed):
    directory = tempfile.mkdtemp(prefix="unwrite-power.")
    try:
        if options.replay:
            recording = Recording(options.replay)
        else:
            kept = os.path.realpath(options.keep or os.path.join(directory, "recording"))
            os.makedirs(kept)
            recording = Recorder(options, options.fs, options.mode, seed, kept).record()
        cuts = Cuts(options, recording, directory)
        for cut in [options.cut] if options.cut else cuts.choose(options.cuts):
            cuts.look(cut)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    notes = cuts.notes
    print(f"{notes['fs']}, {notes['mode']}, seed {notes['seed']}: {len(notes['states'])} states, "
          f"{len(cuts.records)} records: " + ", ".join(f"{cuts.counts[kind]} {kind}" for kind in
                                                       ("exact", "refused", "gone", "wrong")))
    for line in (cuts.wrong + cuts.late)[:20]:
        print("FAILED: " + line)
    return 1 if cuts.wrong or cuts.late else 0


if __name__ == "__main__":
    sys.exit(main())
