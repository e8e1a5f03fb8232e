"""An agent that registers a child of its own as the run of another session.

    impostor.py SOCKET DIRECTORY SESSION     writes DIRECTORY/child when the child is there, reads its number outside
                                             from DIRECTORY/number, and prints the daemon's answer
"""

import json
import os
import pathlib
import socket
import subprocess
import sys
import time

path, directory, session = sys.argv[1:4]
directory = pathlib.Path(directory)
with subprocess.Popen(["sleep", "300.125"]) as child:
    (directory / "child").write_text("there\n", encoding="utf-8")
    while not (directory / "number").exists() or not (directory / "number").read_text(encoding="utf-8").endswith("\n"):
        time.sleep(0.05)
    number = int((directory / "number").read_text(encoding="utf-8"))
    with socket.socket(socket.AF_UNIX) as daemon:
        daemon.connect(path)
        request = {"id": 1, "command": "begin_run", "arguments": {"text": "x", "pid": number, "session": session}}
        daemon.sendall(json.dumps(request).encode() + b"\n")
        print(daemon.makefile("r", encoding="utf-8").readline())
    child.kill()
