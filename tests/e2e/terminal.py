"""Runs a program on a plain terminal of its own (no colours, no full screen) and answers its questions.

    terminal.py [--columns N] [--wait SECONDS] "QUESTION=ANSWER" ... -- PROGRAM ARGUMENTS...

Each question must turn up in the output, in this order; its answer is typed then, with Enter behind it; "^C" and "^D"
are those keys. With --wait an answer is typed only when that time has passed since its question came. Prints everything that was shown and ends with the program's exit status, or 99 when a question did not
come within twenty seconds.
"""

import fcntl
import os
import pty
import select
import struct
import sys
import termios
import time

KEYS = {"^C": b"\x03", "^D": b"\x04"}


def main():
    columns = 80
    if sys.argv[1] == "--columns":
        columns = int(sys.argv[2])
        del sys.argv[1:3]
    wait = 0.0
    if sys.argv[1] == "--wait":
        wait = float(sys.argv[2])
        del sys.argv[1:3]
    dashes = sys.argv.index("--")
    dialogue = [word.rsplit("=", 1) for word in sys.argv[1:dashes]]
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ["NO_COLOR"] = "1"
        os.environ["TERM"] = "dumb"
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        os.execvp(sys.argv[dashes + 1], sys.argv[dashes + 1:])
    shown = b""
    searched = 0
    end = time.monotonic() + 20
    typing = []  # what is to be typed, and when
    while True:
        now = time.monotonic()
        while typing and typing[0][0] <= now:
            os.write(terminal, typing.pop(0)[1])
            end = now + 20
        next_time = min([end] + [when for when, _ in typing])
        ready, _, _ = select.select([terminal], [], [], max(0, next_time - now))
        if not ready and time.monotonic() < end:
            continue
        if not ready:
            sys.stdout.write(shown.decode(errors="replace") + "\nno answer was asked for in time\n")
            os.kill(pid, 9)
            return 99
        try:
            data = os.read(terminal, 65536)
        except OSError:
            break
        if not data:
            break
        shown += data
        while dialogue and (at := shown.find(dialogue[0][0].encode(), searched)) >= 0:
            question, answer = dialogue.pop(0)
            searched = at + len(question)
            typing.append((time.monotonic() + wait, KEYS.get(answer, answer.encode() + b"\n")))
    sys.stdout.write(shown.decode(errors="replace").replace("\r\n", "\n"))
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if dialogue:
        print(f"not asked: {dialogue}")
        return 99
    return status


if __name__ == "__main__":
    sys.exit(main())
