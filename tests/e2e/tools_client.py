"""A client of `unwrite mcp`, in both eras of the protocol, and what it checks. Used by tools.sh."""

import json
import os
import select
import subprocess
import sys
import tomllib

MODERN = "2026-07-28"
META = "io.modelcontextprotocol/"
EMPTY = "No edits have been applied to any file with this session."


class Client:
    """One connection. `era` is "modern" or a version of the handshake."""

    def __init__(self, program, directory, era, arguments=(), capabilities=None, environment=None,
                 around=()):
        self.era = era
        self.capabilities = capabilities or {}
        self.next_id = 1
        self.pending = b""
        self.process = subprocess.Popen(
            [*around, program, "-C", directory, "mcp", *arguments], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, env={**os.environ, **(environment or {})})
        if era != "modern":
            answer = self.request("initialize", {
                "protocolVersion": era, "capabilities": self.capabilities,
                "clientInfo": {"name": "story", "version": "1"}})
            check(answer["result"]["protocolVersion"] == era, answer)
            self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        self.raw(json.dumps(message).encode() + b"\n")

    def raw(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def receive(self, seconds=60):
        while b"\n" not in self.pending:
            ready, _, _ = select.select([self.process.stdout], [], [], seconds)
            check(ready, "no answer")
            data = os.read(self.process.stdout.fileno(), 65536)
            if not data:
                return None
            self.pending += data
        line, self.pending = self.pending.split(b"\n", 1)
        return json.loads(line)

    def message(self, method, params=None):
        params = dict(params or {})
        if self.era == "modern":
            params["_meta"] = {META + "protocolVersion": MODERN,
                               META + "clientInfo": {"name": "story", "version": "1"},
                               META + "clientCapabilities": self.capabilities}
        message = {"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params}
        self.next_id += 1
        return message

    def request(self, method, params=None):
        message = self.message(method, params)
        self.send(message)
        answer = self.receive()
        if answer is not None:
            check(answer["id"] == message["id"], answer)
            if self.era == "modern" and "result" in answer:
                check("resultType" in answer["result"], answer)
                check(META + "serverInfo" in answer["result"]["_meta"], answer)
        return answer

    def call(self, name, /, **arguments):
        return self.request("tools/call", {"name": name, "arguments": arguments})["result"]

    def text(self, name, /, **arguments):
        return self.call(name, **arguments)["content"][0]["text"]

    def end(self):
        self.process.stdin.close()
        check(self.process.wait(30) == 0, "the server ends well at the end of its input")


def check(truth, what):
    if not truth:
        raise AssertionError(f"not so: {what}")


def put(name, data):
    with open(name, "wb") as file:
        file.write(data)


def get(name):
    with open(name, "rb") as file:
        return file.read()


def lp1(**files):
    return "LP1\n" + "".join(f"F {name}\n{ops}" for name, ops in files.items()) + "END\n"


def replace(old, new):
    return f"R\n{old}\n.\n{new}\n.\n"


def edits(client):
    """T-UNDO-*, T-SFE-*, IT-SFE-*: what the tools do to files, the same in every era."""
    put("crlf", b"one\r\ntwo\r\nthree\r\n")
    put("mixed", b"a\r\nb\nc\r\nd\n")
    put("lines", b"1\n2\n3\n4\n")
    os.chmod("lines", 0o751)

    check(client.text("Undo") == EMPTY, "T-UNDO-03")
    refused = client.call("Undo", path="crlf")
    check(refused["isError"] and "no arguments" in refused["content"][0]["text"], "S2, S26")

    stale = client.call("Edit", path="crlf", old_snippet="two", new_snippet="2")
    check(stale["isError"] and stale["structuredContent"]["status"] == "stale_file", stale)
    check("was not read before editing" in stale["content"][0]["text"], "S160")
    read = client.call("Read", path="crlf")["structuredContent"]
    check(read["content"] == "one\r\ntwo\r\nthree\r\n" and read["newline_kind"] == "CRLF", read)
    wrong = client.call("Edit", path="crlf", old_snippet="two", new_snippet="2",
                        file_hash="sha256:" + "0" * 64)
    check(wrong["structuredContent"]["status"] == "stale_file", "T-SFE-STALE-01")
    check(wrong["structuredContent"]["current_file_hash"] == read["file_hash"], "S132")

    done = client.call("edit", path="crlf", old_snippet="one\ntwo\n", new_snippet="eins\nzwei\n",
                       region_id="r1")
    check(not done["isError"] and done["structuredContent"]["status"] == "ok", done)
    check(done["structuredContent"]["region_id"] == "r1", done)
    check(get("crlf") == b"eins\r\nzwei\r\nthree\r\n", "T-SFE-NL-01, IT-SFE-E2E-01")

    client.text("Read", path="mixed")
    client.text("Edit", path="mixed", old_snippet="b\n", new_snippet="x\ny\n")
    check(get("mixed") == b"a\r\nx\r\ny\r\nc\r\nd\n", "T-SFE-NL-02")

    client.text("Read", path="lines", start_line=2, end_line=3)
    outside = client.call("Edit", path="lines", start_line=4, end_line=4, new_content="")
    check("only lines 2-3 were read" in outside["content"][0]["text"], outside)
    client.text("Edit", path="lines", start_line=2, end_line=3, new_content="two and three")
    check(get("lines") == b"1\ntwo and three\n4\n", "IT-SFE-LINE-01")
    check(os.stat("lines").st_mode & 0o7777 == 0o751, "S141")
    check(client.text("Undo") == "Reverted 1 file(s):\nlines", "S16, S20")
    check(get("lines") == b"1\n2\n3\n4\n" and os.stat("lines").st_mode & 0o7777 == 0o751, "S16")
    check(client.text("Undo") == EMPTY, "S18")
    again = client.call("Edit", path="lines", start_line=2, end_line=3, new_content="x")
    check(again["structuredContent"]["status"] == "stale_file", "T-UNDO-06")

    put("hint", b"x\n-\nx\n")
    client.text("Read", path="hint")
    none = client.call("Edit", path="hint", old_snippet="x", new_snippet="y",
                       match_hint={"start_line": 2, "end_line": 2})
    check(none["structuredContent"]["status"] == "no_match", "T-SFE-HINT-01")
    client.text("Edit", path="hint", old_snippet="x", new_snippet="y",
                match_hint={"start_line": 3, "end_line": 3})
    check(get("hint") == b"x\n-\ny\n", "T-SFE-HINT-01")


def undo(client):
    put("full", b"some\nlines\n")
    client.text("Read", path="full")
    client.text("Edit", patch=lp1(full="E\nsome\nlines\n.\n", **{"new/made": "T\nx\n.\n"}))
    check(get("full") == b"" and get("new/made") == b"x", "the patch")
    kept = client.call("Edit", patch=lp1(full="N -\n"))
    check(kept["content"][0]["text"] == "No changes applied.", kept)

    put("new/made", b"the user's")
    before = os.stat("full")
    refused = client.call("Undo")
    check(refused["isError"] and refused["content"][0]["text"] == "new/made: hash mismatch",
          "T-UNDO-04")
    after = os.stat("full")
    check((before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino), "S14")
    put("new/made", b"x")
    done = client.call("Undo")
    check(done["structuredContent"]["reverted"] == 2, done)
    check(done["structuredContent"]["paths"] == ["full", "new/made"], done)
    check(get("full") == b"some\nlines\n", "T-UNDO-01")
    check(not os.path.exists("new"), "T-UNDO-02, and the directory that the edit made")


def sandbox(client):
    outside = os.path.join(os.path.dirname(os.getcwd()), "outside")
    put(outside, b"secret\n")
    os.symlink(outside, "way-out")
    os.symlink("..", "up")
    put("plain", b"p\n")
    for path in ("../outside", "up/outside", outside, "a/../plain", "way-out", "pl\u202eain",
                 "/etc/passwd", ".unwrite/state.db"):
        answer = client.call("Read", path=path)
        check(answer["isError"] and "secret" not in answer["content"][0]["text"], path)
        answer = client.call("Edit", patch="LP1\nF \"" + path + "\"\nT\nx\n.\nEND\n")
        check(answer["isError"], ("S163, S168", path, answer))
    check(get(outside) == b"secret\n", "S142")
    absolute = client.call("Read", path=os.path.join(os.getcwd(), "plain"))
    check(absolute["structuredContent"]["path"] == "plain", "S163 re-rooted")
    put("a.c", b"int a;\n")
    client.text("Read", path="a.c")
    denied = client.call("Edit", patch=lp1(**{"a.c": replace("int a;", "long a;"),
                                              "deploy.pem": "T\nkey\n.\n"}))
    check(denied["isError"] and "Path 'deploy.pem' matched denied pattern" in
          denied["content"][0]["text"], denied)
    check(get("a.c") == b"int a;\n", "S159 nothing of it")


def limits(client):
    put("wide", b"x\n" * 102401)
    refused = client.call("Read", path="wide")
    check(refused["isError"] and refused["content"][0]["text"] ==
          "wide: too much to be read at once (204802 bytes > 204800 max_file_read_bytes); give "
          "start_line and end_line", refused)
    part = client.call("Read", path="wide", start_line=1, end_line=102400, line_numbers=False)
    check(len(part["content"][0]["text"]) == 204800, "S162: all that fits")
    edit = client.call("Edit", path="wide", start_line=1, end_line=1, new_content="y")
    check("File too large for Edit tool (204802 bytes > 204800 max_file_read_bytes)" in
          edit["content"][0]["text"], edit)
    put("long", b"x" * 2097153)
    refused = client.call("Read", path="long", start_line=1, end_line=1)
    check(refused["content"][0]["text"] ==
          "long: File too large to be read (2097153 bytes > 2097152)", refused)
    for arguments in ({"patch": "#" * 524289}, {"path": "wide", "start_line": 1, "end_line": 1,
                                                "new_content": "y" * 262145}):
        refused = client.call("Edit", **arguments)
        check(refused["isError"] and
              refused["content"][0]["text"] == "Tool arguments too large", refused)


def attributed(client):
    """The client's own numbers stay with the step."""
    put("told", b"one\n")
    client.text("Read", path="told")
    call = client.message("tools/call", {"name": "Edit", "arguments": {
        "path": "told", "old_snippet": "one", "new_snippet": "two"}})
    call["params"].setdefault("_meta", {}).update({"progressToken": 9, "turn_id": "turn-3"})
    client.send(call)
    check(client.receive()["result"]["structuredContent"]["status"] == "ok", call)
    node = client.call("log", limit=1)["structuredContent"]["nodes"][0]
    check(node["by"] == {"client": "story 1", "progressToken": 9, "turn_id": "turn-3"}, node)
    check(node["text"] == "edited told", node)
    client.text("Undo")
    check("by" in client.call("log", limit=1)["structuredContent"]["nodes"][0], "of an Undo")

    def call_of(turn, tool, /, **arguments):
        call = client.message("tools/call", {"name": tool, "arguments": arguments})
        call["params"].setdefault("_meta", {})["turn_id"] = turn
        client.send(call)
        answer = client.receive()["result"]
        check(not answer["isError"], answer)
        node = client.call("log", limit=1, all=True)["structuredContent"]["nodes"][0]
        check(node["by"]["turn_id"] == turn, node)
        return node

    check(call_of("turn-4", "checkpoint", name="told")["name"] == "told", "a checkpoint")
    put("told", b"three\n")
    back = call_of("turn-5", "rollback", to="told", include_others=True)
    check(back["kind"] == "step" and back["text"] == "", back)


def history(client):
    put("kept", b"first\n")
    node = client.call("checkpoint", name="story")["structuredContent"]["node"]
    put("kept", b"second\n")
    check("kept" in client.text("status", since="story"), "status")
    check("+second" in client.text("diff", **{"from": node}), "diff")
    check(node in client.text("log"), "log")
    dry = client.call("rollback", to="story", dry_run=True)
    check("modified: kept, by the user (python3" in dry["content"][0]["text"], dry)
    check(dry["structuredContent"]["changes"][0]["by"][0].startswith("the user (python3"), dry)
    other = Client(client.process.args[0], os.getcwd(), "modern")
    other.call("status")
    other.text("Edit", patch=lp1(mine="T\nx\n.\n"))
    own = other.call("checkpoint")["structuredContent"]["node"]
    before = other.call("rollback", to=node)
    check(before["isError"] and ("from before this connection" in before["content"][0]["text"] or
                                 "others changed" in before["content"][0]["text"]), before)
    check(not other.call("rollback", to=own)["isError"], "its own")
    other.end()
    os.unlink("mine")
    check(get("kept") == b"second\n", "a dry run does nothing")
    held = client.call("rollback", to="story")
    check(held["isError"] and "others changed" in held["content"][0]["text"], held)
    check(held["structuredContent"]["others"], "D6: what another process wrote is not its own")
    check(get("kept") == b"second\n", "the user's change stays")
    moved = client.call("rollback", to="story", include_others=True)
    check(not moved["isError"], moved)
    check(get("kept") == b"first\n", "rollback")
    client.call("Read", path="kept")
    client.call("Edit", path="kept", old_snippet="first", new_snippet="its own")
    check(not client.call("rollback", to="story")["isError"], "what the connection itself did")
    check(get("kept") == b"first\n", "it is taken back")
    for name in ("status", "tree", "diff"):
        contents = client.request("resources/read", {"uri": "unwrite://" + name})["result"]
        check(contents["contents"][0]["text"], name)
    prompt = client.request("prompts/get", {"name": "review"})["result"]
    check("Review" in prompt["messages"][0]["content"]["text"], prompt)

    def completed(value, name="since"):
        return client.request("completion/complete", {
            "ref": {"type": "ref/prompt", "name": "review"},
            "argument": {"name": name, "value": value}})

    check(completed("sto")["result"]["completion"] ==
          {"values": ["story"], "total": 1, "hasMore": False}, "a checkpoint's name")
    check(node in completed(node)["result"]["completion"]["values"], "a node")
    check(completed("", "until")["error"]["code"] == -32602, "no such argument")


def listed(client):
    tools = {tool["name"]: tool for tool in client.request("tools/list")["result"]["tools"]}
    check(tools["Undo"]["inputSchema"] ==
          {"type": "object", "properties": {}, "additionalProperties": False}, "S1, S2")
    for name in ("Undo", "Edit", "rollback"):
        hints = tools[name]["annotations"]
        check(not hints["readOnlyHint"] and hints["destructiveHint"], "S3")
    for name in ("Read", "status", "diff", "log"):
        check(tools[name]["annotations"]["readOnlyHint"], name)
    check("revert_to_state" not in tools, "S103")


def both_eras(program, directory):
    for era in ("modern", "2025-11-25", "2025-06-18", "2024-11-05"):
        place = os.path.join(directory, "era-" + era)
        os.mkdir(place)
        os.chdir(directory)
        client = Client(program, directory, era)
        listed(client)
        for part in (edits, undo, sandbox, limits, attributed, history):
            for name in os.listdir("."):
                if name.startswith("era-") or name == "outside":
                    continue
                if os.path.isdir(name) and not os.path.islink(name):
                    os.rmdir(name)
                else:
                    os.unlink(name)
            part(client)
        client.end()
        print("era:", era)


def protocol(program, directory):
    """Whatever arrives, an answer by the protocol."""
    process = Client(program, directory, "modern")
    process.raw(b"not json\n")
    check(process.receive()["error"]["code"] == -32700, "parse error")
    process.raw(b"[" * 100000 + b"\n")
    check(process.receive()["error"]["code"] == -32600, "too deep")
    process.raw(b'[1, {"jsonrpc": "2.0"}, "x", null]\n')
    check([one["error"]["code"] for one in process.receive()] == [-32600] * 4, "a garbage batch")
    process.raw(b"\xff\xfe\x00\n")
    check(process.receive()["error"]["code"] == -32700, "bytes")
    process.raw(b'{"jsonrpc":"2.0","id":7,"method":"tools/list"}\n')
    early = process.receive()
    check(early["id"] == 7 and early["error"]["code"] == -32600, "before initialize")
    process.raw(b"x" * (5 << 20) + b"\n")
    check(process.receive()["error"]["code"] == -32600, "a line that is too long")
    process.raw(b'{"method":"tools/call","params":{"a":"' + b"x" * (5 << 20) + b'"},"jsonrpc":"2.0","id":11}\n')
    check(process.receive()["id"] == 11, "S162: it is answered with its id, which many clients write last")
    check(process.request("no/such")["error"]["code"] == -32601, "an unknown method")
    check(process.request("tools/call", {"name": "none"})["error"]["code"] == -32602, "a tool")
    old = process.message("tools/list")
    old["params"]["_meta"][META + "protocolVersion"] = "2099-01-01"
    process.send(old)
    answer = process.receive()
    check(answer["error"]["code"] == -32022, answer)
    check(answer["error"]["data"]["supported"] == [MODERN], answer)
    check(process.request("server/discover")["result"]["supportedVersions"] == [MODERN], "discover")

    # A cancellation that arrives with its request: nothing is done, nothing is answered.
    call = process.message("tools/call", {"name": "Edit", "arguments": {
        "patch": lp1(cancelled="T\nx\n.\n")}})
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled",
              "params": {"requestId": call["id"]}}
    late = process.message("ping")
    process.raw(b"".join(json.dumps(one).encode() + b"\n" for one in (call, cancel, late)))
    check(process.receive()["id"] == late["id"], "the cancelled call has no answer")
    check(not os.path.exists(os.path.join(directory, "cancelled")), "and did nothing")
    process.end()

    closed = Client(program, directory, "modern")
    closed.process.stdout.close()
    closed.send(closed.message("tools/list"))
    check(closed.process.wait(30) == 0, "a reader that goes away")


def reverting(program, directory):
    """revert_to_state: only there when asked for, carried out between two calls, never over a file
    that is open for writing, never over what the user changed."""
    os.chdir(directory)
    for era in ("modern", "2025-11-25"):
        plain = Client(program, directory, era)
        check("error" in plain.request("tools/call", {
            "name": "revert_to_state", "arguments": {"category": "failure", "step": "1"}}), "S103")
        plain.end()
    client = Client(program, directory, "modern", ("--revert-to-state",))
    tool = {tool["name"]: tool for tool in client.request("tools/list")["result"]["tools"]}[
        "revert_to_state"]
    schema = tool["inputSchema"]
    check(schema["required"] == ["category", "step"], "S90")
    check(schema["properties"]["category"]["enum"] ==
          ["failure", "tangent", "completion", "step-summary"], "S90")
    check(tool["annotations"]["destructiveHint"], "S3")
    wrong = client.call("revert_to_state", category="failure")
    check(wrong["isError"] and wrong["content"][0]["text"] ==
          "Invalid arguments: step is required", "S91")

    client.text("Edit", patch=lp1(f="T\none\n.\n"))
    node = client.call("checkpoint", name="good")["structuredContent"]["node"]
    client.text("Read", path="f")
    client.text("Edit", patch=lp1(f=replace("one", "two")))
    with open("held", "wb") as held:
        noted = client.call("revert_to_state", category="failure", step=node[1:], summary="no")
        check(noted["content"][0]["text"] ==
              f"Revert request recorded: category=Failure, target={node}, summary=\"no\". "
              "The trunk will be rebuilt from this node before the next turn.", noted)
        check(noted["structuredContent"]["recorded"], "S95")
        client.call("status")
        check(get("f") == b"two", "S106: a file is open for writing")
        held.write(b"")
    os.unlink("held")
    told = client.call("status")
    texts = [block["text"] for block in told["content"]]
    check(get("f") == b"two" and "change by the user" in texts[-1], ("S100", texts))
    event = told["_meta"]["unwrite/RevertApplied"][0]
    check(not event["applied"] and event["target"] is None, event)

    client.text("Read", path="f")
    client.text("Edit", patch=lp1(f=replace("two", "three")))
    node = client.call("checkpoint")["structuredContent"]["node"]
    client.text("Read", path="f")
    client.text("Edit", patch=lp1(f=replace("three", "four"), g="T\nnew\n.\n"))
    asked = client.message("tools/call", {"name": "revert_to_state", "arguments": {
        "category": "failure", "step": node, "summary": "four was wrong"}})
    asked["params"]["_meta"]["turn_id"] = "turn-7"
    client.send(asked)
    client.receive()
    told = client.call("status")
    check(get("f") == b"three" and not os.path.exists("g"), "S105")
    check(told["_meta"]["unwrite/RevertApplied"][0]["applied"], told)
    check("[lesson] four was wrong" in told["content"][0]["text"], "S102")
    check("four was wrong" in client.text("log"), "S102")
    tree = client.request("resources/read", {"uri": "unwrite://tree"})["result"]
    check("[lesson] four was wrong" in tree["contents"][0]["text"], "S102")
    client.text("Read", path="f")
    client.text("Edit", patch=lp1(f=replace("three", "five")))
    client.call("revert_to_state", category="completion", step=node)
    client.end()
    check(get("f") == b"five", "S105: a completion keeps the files")
    log = json.loads(subprocess.run([program, "-C", directory, "--json", "log", "--all"],
                                    check=True, stdout=subprocess.PIPE).stdout)
    check([entry for entry in log["entries"] if "revert.squash" in entry["node"]["tags"]],
          "S96: at the end at the latest")
    events = [json.loads(value) for entry in log["entries"]
              for key, value in entry["node"]["tags"].items() if key.startswith("revert.event.")]
    check([event["by"] for event in events if event["summary"] == "four was wrong"] ==
          [{"client": "story 1", "turn_id": "turn-7"}], ("who asked", events))


def reader(program, directory):
    """T-SFE-ATOM-01: whoever reads while a file is edited sees the old or the new one."""
    os.chdir(directory)
    one, two = b"a" * 100000 + b"\n", b"b" * 100000 + b"\n"
    put("loop", one)
    script = ("import sys\nseen=set()\nprint('on', flush=True)\n"
              "import select\n"
              "while not select.select([sys.stdin],[],[],0)[0]:\n"
              "    seen.add(open('loop','rb').read())\n"
              "sys.exit(0 if all(len(s)==100001 and len(set(s))==2 for s in seen) else 1)\n")
    watcher = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
    watcher.stdout.readline()
    client = Client(program, directory, "modern")
    for turn in range(20):
        client.text("Read", path="loop")
        text = "b" if turn % 2 == 0 else "a"
        done = client.call("Edit", path="loop", start_line=1, end_line=1, new_content=text * 100000)
        check(not done["isError"], done)
    client.end()
    watcher.stdin.close()
    check(watcher.wait(30) == 0, "the reader never saw a part of it")


def dead(program, directory, daemon):
    """The daemon dies while a client is connected: an answer, not an end."""
    client = Client(program, "/", "modern")
    check(client.call("status")["isError"], "no workspace is an answer")
    client.end()
    client = Client(program, directory, "modern")
    check(not client.call("status")["isError"], "alive")
    os.kill(int(daemon), 9)
    for name in ("status", "Undo"):
        check(client.call(name)["isError"], name)
    check(client.request("resources/read", {"uri": "unwrite://status"})["error"], "a resource")
    check("result" in client.request("tools/list"), "the list needs no daemon")
    client.end()


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
