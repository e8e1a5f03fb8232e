"""An agent that changes .git/config by a mapping, which no rule can judge before the kernel writes the page back.

mapper.py append|rename COMMAND: first come comments, which are allowed, in place or in a file that takes the name; then
the comment signs are overwritten by blanks. Makes "stored" beside it, and waits until "go" is there.
"""
import mmap
import os
import sys
import time

CONFIG = ".git/config"
how, command = sys.argv[1:]
lines = b"#[core]\n#\tfsmonitor = %s\n" % command.encode()
path = CONFIG
if how == "rename":
    path = "new"
    with open(CONFIG, "rb") as old, open(path, "wb") as new:
        new.write(old.read() + lines)
else:
    with open(path, "ab") as file:
        file.write(lines)
with open(path, "r+b") as file:
    stored = mmap.mmap(file.fileno(), 0)
    at = stored.find(lines)
    if how == "rename":
        os.rename(path, CONFIG)
    stored[at:at + 1] = b" "
    stored[at + 8:at + 9] = b" "
    open("stored", "w").close()
    deadline = time.monotonic() + 30
    while not os.path.exists("go") and time.monotonic() < deadline:
        time.sleep(0.05)
