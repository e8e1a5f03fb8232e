"""What is measured: a plain directory, unwrite on either of its data paths, and its peers."""

import json
import os
import shutil
import socket
import subprocess
import time
from pathlib import Path


class Unavailable(Exception):
    """This machine cannot run the subject; the text says why."""


def run(*command, **options):
    """Runs a command quietly; an error carries its output."""
    result = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, cwd="/", **options)
    if result.returncode:
        text = result.stdout.decode(errors="replace").strip()
        raise RuntimeError(f"{' '.join(map(str, command))}: exit {result.returncode}: {text}")
    return result.stdout.decode(errors="replace")


def elapsed(function, *arguments):
    start = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - start


class Subject:
    """One way to serve a directory. `home` is scratch space; `raw` is filled before start()."""

    name = ""
    peer = False        # measured where peers are asked for
    for_users = True    # a user without privileges can mount it
    goes_back = False   # discard() works

    def __init__(self, home):
        self.home = Path(home)
        self.raw = self.home / "raw"
        self.path = self.raw
        self.raw.mkdir(parents=True)

    def start(self):
        """Makes `path` ready for work."""

    def stop(self):
        """The opposite of start()."""

    def discard(self):
        """Takes back everything since start(), and is ready for work again."""
        raise Unavailable("cannot be taken back")

    def processes(self):
        """The ids of the processes that serve `path`."""
        return []

    def remove(self):
        self.stop()
        run("rm", "-rf", "--one-file-system", self.home)


class Native(Subject):
    name = "native"


class Tools:
    """A client of `unwrite mcp`; docs/mcp.md has the protocol."""

    def __init__(self, program, path):
        self.process = subprocess.Popen([program, "-C", path, "mcp"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)

    def call(self, name, /, **arguments):
        request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": name, "arguments": arguments,
            "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}}
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        result = json.loads(self.process.stdout.readline())["result"]
        if result["isError"]:
            raise RuntimeError(f"{name}: {result['content'][0]['text']}")

    def end(self):
        self.process.stdin.close()
        self.process.wait(30)


class Unwrite(Subject):
    name = "unwrite"
    goes_back = True
    program = None
    data_path = "observed"
    data_paths = {}   # program -> whether it has more than one

    def __init__(self, home):
        if not Path(self.program).exists():
            raise Unavailable(f"{self.program} is not built")
        super().__init__(home)
        self.mounted = False
        self.beneath = None

    @classmethod
    def has_data_paths(cls):
        """Asked once: a mount is timed, and this starts the program."""
        if cls.program not in Unwrite.data_paths:
            Unwrite.data_paths[cls.program] = "--data-path" in run(cls.program, "mount", "--help")
        return Unwrite.data_paths[cls.program]

    def command(self, *arguments):
        return run(self.program, "-C", self.path, *arguments)

    def ask(self, connection, command):
        """One request on the open control connection; docs/cli.md has the protocol."""
        connection.sendall(json.dumps({"id": 1, "command": command}).encode() + b"\n")
        answer = b""
        while not answer.endswith(b"\n"):
            part = connection.recv(1 << 16)
            if not part:
                raise RuntimeError(f"{command}: the daemon hung up")
            answer += part
        if not json.loads(answer)["ok"]:
            raise RuntimeError(f"{command}: {answer.decode(errors='replace')}")

    def connect(self):
        source = next(line.split(" - ")[1].split()[1] for line in open("/proc/self/mountinfo")
                      if line.split()[4] == str(self.raw.resolve()))
        name = source.split(":")[1] + ".sock"
        user = os.geteuid()
        places = [os.environ.get("XDG_RUNTIME_DIR", "/nowhere") + "/unwrite",
                  f"/run/user/{user}/unwrite", f"/run/unwrite-{user}", f"/tmp/unwrite-{user}"]
        path = next(f"{place}/{name}" for place in places if os.path.exists(f"{place}/{name}"))
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(path)
        return connection

    def tools(self):
        return Tools(self.program, self.path)

    def start(self):
        chosen = ("--data-path", self.data_path) if self.has_data_paths() else ()
        self.beneath = os.open(self.raw, os.O_PATH | os.O_DIRECTORY)
        run(self.program, "mount", *chosen, self.raw)
        self.mounted = True

    def stop(self):
        if self.mounted:
            self.mounted = False
            unmount(lambda: run(self.program, "unmount", self.raw))
        if self.beneath is not None:
            os.close(self.beneath)
            self.beneath = None

    def journal_bytes(self):
        """What the state directory takes on the disk, seen beneath the mount."""
        return sum(os.lstat(os.path.join(folder, name)).st_blocks * 512
                   for folder, _, names in os.walk(f"/proc/self/fd/{self.beneath}/.unwrite")
                   for name in names)

    def discard(self):
        self.command("discard", "--yes")

    def processes(self):
        return running(self.program, self.raw)


class Passthrough(Unwrite):
    name = "unwrite-passthrough"
    for_users = False
    data_path = "passthrough"

    def start(self):
        if not self.has_data_paths():
            raise Unavailable("this unwrite has one data path only")
        super().start()


class Overlay(Subject):
    name = "overlayfs"
    peer = True
    for_users = False
    goes_back = True

    def __init__(self, home):
        super().__init__(home)
        self.path = self.home / "merged"
        self.mounted = False
        for folder in ("upper", "workdir", "merged"):
            (self.home / folder).mkdir()

    def options(self):
        return f"lowerdir={self.raw},upperdir={self.home}/upper,workdir={self.home}/workdir"

    def mount(self):
        run("mount", "-t", "overlay", "overlay", "-o", self.options(), self.path)

    def start(self):
        try:
            self.mount()
        except (RuntimeError, OSError) as error:
            raise Unavailable(str(error)) from error
        self.mounted = True

    def stop(self):
        if self.mounted:
            self.mounted = False
            unmount(lambda: run("umount", self.path))

    def discard(self):
        self.stop()
        for folder in ("upper", "workdir"):
            shutil.rmtree(self.home / folder)
            (self.home / folder).mkdir()
        self.start()


class FuseOverlay(Overlay):
    """It caches as long as it can by itself: all timeouts are a lifetime, and written data stays in the kernel."""

    name = "fuse-overlayfs"
    for_users = True

    def mount(self):
        run(installed(self.name), "-o", self.options(), self.path)

    def stop(self):
        if self.mounted:
            self.mounted = False
            unmount(lambda: run("fusermount3", "-u", self.path))

    def processes(self):
        return running(shutil.which(self.name), self.path)


class Mergerfs(FuseOverlay):
    """A union of one branch, with every cache on that it has: what a quick passthrough filesystem costs. It takes
    nothing back, and what is written is in the branch at once. Debian's cannot be mounted by a user."""

    name = "mergerfs"
    for_users = False
    goes_back = False
    CACHES = ("cache.files=auto-full,cache.attr=86400,cache.entry=86400,cache.negative_entry=86400,"
              "cache.symlinks=true,cache.readdir=true,cache.open=60,cache.statfs=60")

    def mount(self):
        # It would refuse new files on a filesystem with less than 4 GiB left, and asks for an attribute at each write.
        run(installed(self.name), "-o",
            f"{self.CACHES},security_capability=false,minfreespace=0,category.create=ff,use_ino",
            self.raw, self.path)

    def discard(self):
        raise Unavailable("cannot be taken back")


SUBJECTS = (Native, Unwrite, Passthrough, Overlay, FuseOverlay, Mergerfs)


def installed(program):
    found = shutil.which(program)
    if not found:
        raise Unavailable(f"{program} is not installed; on Debian: apt-get install {program}")
    return found


def unmount(attempt):
    """An unmount that is busy for a moment is tried again."""
    for left in reversed(range(20)):
        try:
            attempt()
            return
        except RuntimeError:
            if not left:
                raise
            time.sleep(0.1)


def running(program, path):
    """Processes of `program` whose command line names `path`; all of them when none does."""
    found = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                if os.path.samefile(f"/proc/{entry}/exe", program):
                    found[int(entry)] = Path(f"/proc/{entry}/cmdline").read_bytes()
            except OSError:
                pass
    named = [pid for pid, line in found.items() if os.fsencode(path) in line]
    return named or list(found)
