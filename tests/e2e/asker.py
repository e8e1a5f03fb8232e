"""Changes files that a person is asked about, by the system calls themselves.

    asker.py many N DIR     N threads append a line to DIR/0 ... DIR/N-1; prints how each ended, and how often
    asker.py one CALL PATH  one open, write, unlink or rename, which a SIGINT may interrupt; prints how it ended
"""

import collections
import ctypes
import errno
import os
import signal
import sys
import threading

libc = ctypes.CDLL(None, use_errno=True)


def ended(result):
    return "done" if result >= 0 else errno.errorcode[ctypes.get_errno()]


def append(path):
    fd = os.open(path, os.O_WRONLY | os.O_APPEND)
    result = libc.write(fd, b"line\n", 5)
    how = ended(result)
    os.close(fd)
    return how


def many(count, directory):
    ends = collections.Counter()

    def body(i):
        ends[append(f"{directory}/{i}")] += 1

    threads = [threading.Thread(target=body, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(" ".join(f"{how}={number}" for how, number in sorted(ends.items())))


def one(call, path):
    signal.signal(signal.SIGINT, lambda *_: None)
    name = path.encode()
    print("calls", flush=True)
    if call == "write":
        print(append(path))
    elif call == "create":
        print(ended(libc.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)))
    elif call == "unlink":
        print(ended(libc.unlink(name)))
    elif call == "rename":
        print(ended(libc.rename(name, name + b".moved")))


if sys.argv[1] == "many":
    many(int(sys.argv[2]), sys.argv[3])
else:
    one(sys.argv[2], sys.argv[3])
