"""What a command in a confined run finds where the user's terminal was.

    own_terminal.py probe DEVICE:INODE...     inside: none of these terminals is reached, and all is as on a terminal
    own_terminal.py drained PROGRAM LINES     outside: a run prints so many lines and ends; all of them arrive
    own_terminal.py killed PROGRAM            outside: `unwrite run` itself is killed; the terminal is as it was
"""

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time


def probe(users):
    for fd in range(3):
        seen = os.fstat(fd)
        assert f"{seen.st_dev}:{seen.st_ino}" not in users, f"descriptor {fd} is the user's terminal"
        assert os.ttyname(fd).startswith("/dev/pts/"), os.ttyname(fd)
    tty = os.open("/dev/tty", os.O_RDWR)
    assert termios.tcgetattr(tty)
    session = struct.unpack("i", fcntl.ioctl(tty, 0x5429, b"\0" * 4))[0]
    assert session == os.getsid(0) != 0, f"/dev/tty is of session {session}, not of {os.getsid(0)}"
    assert os.tcgetpgrp(tty) == os.getpgrp(), "it is not in front"
    for root, _, names in os.walk("/dev"):
        for name in names:
            seen = os.stat(os.path.join(root, name))
            assert f"{seen.st_dev}:{seen.st_ino}" not in users, f"{root}/{name} is the user's terminal"
    try:
        fcntl.ioctl(0, 0x5412, b"x")
        raise SystemExit("it typed")
    except PermissionError:
        print("nothing of the user's is reached")


def read_until(terminal, text, seconds=20):
    shown = b""
    end = time.monotonic() + seconds
    while text not in shown:
        ready, _, _ = select.select([terminal], [], [], max(0, end - time.monotonic()))
        assert ready, f"{text!r} did not come; shown: {shown[-300:]!r}"
        shown += os.read(terminal, 65536)
    return shown


def start(arguments):
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(arguments[0], arguments)
    return pid, terminal


def drained(program, lines):
    pid, terminal = start([program, "run", "--on-exit", "keep", "--", "seq", str(lines)])
    shown = b""
    try:
        while data := os.read(terminal, 65536):
            shown += data
    except OSError:
        pass
    os.waitpid(pid, 0)
    wanted = b"".join(b"%d\r\n" % i for i in range(1, lines + 1))
    assert wanted in shown.replace(b"\r\r\n", b"\r\n"), f"{len(shown)} bytes came; the end: {shown[-200:]!r}"
    print(f"all of {lines} lines")


def killed(program):
    pid, terminal = pty.openpty()
    # The leader of the session stays, as a script would that started the run.
    leader = os.fork()
    if leader == 0:
        os.setsid()
        fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
        run = os.fork()
        if run == 0:
            for fd in range(3):
                os.dup2(terminal, fd)
            os.execv(program, [program, "run", "--on-exit", "keep", "--", "sh", "-c", "stty raw -echo; echo ready; sleep 300"])
        os.waitpid(run, 0)
        time.sleep(300)
        os._exit(0)
    usual = termios.tcgetattr(terminal)
    os.close(terminal)
    read_until(pid, b"ready")
    assert termios.tcgetattr(pid)[3] & termios.ICANON == 0, "keys are not handed on"
    run = int(open(f"/proc/{leader}/task/{leader}/children", encoding="ascii").read().split()[0])
    os.kill(run, signal.SIGKILL)
    end = time.monotonic() + 20
    while termios.tcgetattr(pid)[:4] != usual[:4]:
        assert time.monotonic() < end, "the terminal stays as the run had it"
        time.sleep(0.05)
    os.kill(leader, signal.SIGKILL)
    os.waitpid(leader, 0)
    print("the terminal is as it was")


if __name__ == "__main__":
    if sys.argv[1] == "probe":
        probe(sys.argv[2:])
    elif sys.argv[1] == "drained":
        drained(sys.argv[2], int(sys.argv[3]))
    else:
        killed(sys.argv[2])
