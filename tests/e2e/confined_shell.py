"""An interactive shell in a confined run, on a terminal: what is typed, Ctrl-C, Ctrl-Z with fg, and the exit status.

    confined_shell.py PROGRAM
"""

import os
import pty
import select
import signal
import sys
import time
from pathlib import Path

shown = b""


def wait_for(terminal, text):
    global shown
    end = time.monotonic() + 20
    while text not in shown:
        ready, _, _ = select.select([terminal], [], [], max(0, end - time.monotonic()))
        assert ready, f"{text!r} did not come; shown: {shown!r}"
        shown += os.read(terminal, 65536)
    shown = shown[shown.index(text) + len(text):]


def in_front(run, name):
    """Waits until that is the program which the signals of the run's own terminal go to: a signal before belongs to the
    shell."""
    end = time.monotonic() + 20
    while True:
        parents, front = {}, []
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                number, rest = stat.read_text(encoding="utf-8").split(" (", 1)
            except OSError:
                continue
            program, fields = rest.rsplit(") ", 1)
            _, parent, group, _, _, in_front_of_terminal = fields.split()[:6]
            parents[int(number)] = int(parent)
            if program == name and group == in_front_of_terminal:
                front.append(int(number))
        for process in front:
            while process not in (0, run):
                process = parents.get(process, 0)
            if process == run:
                return
        assert time.monotonic() < end, f"{name} is not in front"
        time.sleep(0.01)


def main():
    pid, terminal = pty.fork()
    if pid == 0:
        # A background job of a script, as the story is, ignores it, and so would the shell's jobs.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.environ["PS1"] = "[ready] "
        os.execv(sys.argv[1], [sys.argv[1], "run", "--require-confinement", "--on-exit", "keep", "--",
                               "bash", "--norc", "--noprofile", "-i"])
    wait_for(terminal, b"[ready] ")
    os.write(terminal, b"echo a$((1 + 1))b; tty -s && echo term$((2 + 2)); stty size >/dev/null && echo size$((3 + 3))\n")
    for text in (b"a2b", b"term4", b"size6", b"[ready] "):
        wait_for(terminal, text)
    print("  a shell, on a terminal")
    os.write(terminal, b"sleep 300\n")
    in_front(pid, "sleep")
    os.write(terminal, b"\x03")
    wait_for(terminal, b"[ready] ")
    os.write(terminal, b"echo code$?\n")
    wait_for(terminal, b"code130")
    wait_for(terminal, b"[ready] ")
    print("  SIGINT ends what is in front, not the shell")
    os.write(terminal, b"sleep 300\n")
    in_front(pid, "sleep")
    os.write(terminal, b"\x1a")
    wait_for(terminal, b"Stopped")
    wait_for(terminal, b"[ready] ")
    os.write(terminal, b"jobs; fg\n")
    wait_for(terminal, b"sleep 300")
    in_front(pid, "sleep")
    os.write(terminal, b"\x03")
    wait_for(terminal, b"[ready] ")
    print("  SIGTSTP stops it, SIGCONT goes on")
    os.write(terminal, b"python3 -c 'import fcntl; fcntl.ioctl(0, 0x5412, b\"x\")' 2>&1 | tail -n 1\n")
    wait_for(terminal, b"PermissionError")
    wait_for(terminal, b"[ready] ")
    print("  nobody types for the user")
    os.write(terminal, b"exit 7\n")
    try:
        while os.read(terminal, 65536):
            pass
    except OSError:
        pass
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert status == 7, status
    print("  the exit status is the shell's")
    return 0


sys.exit(main())
