#!/usr/bin/env python3
"""A stand-in for a model on 127.0.0.1. It speaks to each of the four agents in the protocol of its own vendor, and plays
a script of tool calls instead of thinking. Whatever an agent sends is written down, so that a test can look at what a real
model would have read.

    model.py DIRECTORY        DIRECTORY/script.json is the script, read anew for each request
                              DIRECTORY/port gets the port, DIRECTORY/requests one line of JSON for each request

The script is a list of {"when": TEXT, "do": [STEP...]}. The newest message of the user that has TEXT in it chooses the
part; the results of tools that came after it say which step is next. A step is one of
    {"read": PATH}  {"edit": [PATH, OLD, NEW]}  {"shell": COMMAND}  {"say": TEXT}  {"tool": NAME, "input": {...}}
After the last step, and to anything else, the answer is "Understood."
"""
import json
import pathlib
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from protocols import PROTOCOLS


def next_step(script, entries):
    """What the model does now. `entries`: (kind, text) of the conversation. The kind is "user", "result" (of
    a tool) or "said" (an answer of the model that calls no tool)."""
    for position in range(len(entries) - 1, -1, -1):
        kind, text = entries[position]
        if kind != "user":
            continue
        # What unwrite tells of a step has the words of that step's prompt in it.
        text = "\n".join(line for line in text.splitlines() if "The user took back step" not in line)
        for part in script:
            if part["when"] in text:
                since = [kind for kind, _ in entries[position:]]
                done, steps = since.count("result"), part["do"]
                return steps[done] if done < len(steps) and "said" not in since else {"say": "Understood."}
    return {"say": "Understood."}


class Model(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def body(self):
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            data = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                data += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return data
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def send(self, text, kind="application/json", status=200):
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def do_GET(self):
        # Lists of models and the like.
        self.send('{"object": "list", "data": [], "models": []}')

    do_HEAD = do_GET

    def do_POST(self):
        data = self.body()
        try:
            request = json.loads(data or b"{}")
        except ValueError:
            # Counts of use, packed; no model is asked.
            self.send("{}")
            return
        path = self.path.split("?")[0]
        protocol = next((one for one in PROTOCOLS if one.answers(path)), None)
        if protocol is None:
            self.server.note(path, request)
            self.send("{}")
            return
        counted = protocol.count(path)
        if counted is not None:
            self.send(json.dumps(counted))
            return
        number = self.server.note(path, request)
        if protocol.has_tools(request):
            step = next_step(self.server.script(), list(protocol.entries(request)))
        else:
            step = {"say": "A title"}  # a side question: what is this conversation about
        self.send(*protocol.answer(path, request, step, number))


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, directory):
        super().__init__(("127.0.0.1", 0), Model)
        self.directory = directory
        self.count = 0
        self.guard = threading.Lock()

    def script(self):
        try:
            return json.loads((self.directory / "script.json").read_text())
        except FileNotFoundError:
            return []

    def note(self, path, request):
        with self.guard:
            self.count += 1
            with (self.directory / "requests").open("a") as file:
                file.write(json.dumps({"path": path, "body": request}) + "\n")
            return self.count


def main():
    directory = pathlib.Path(sys.argv[1])
    server = Server(directory)
    (directory / "port.new").write_text(str(server.server_address[1]))
    (directory / "port.new").rename(directory / "port")
    server.serve_forever()


if __name__ == "__main__":
    main()
