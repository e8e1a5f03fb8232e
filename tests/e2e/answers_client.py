"""Every outcome of the tools: the text and the structured part of an answer both say what is needed to go on, and
the structured part has no member that the tool's output schema does not name. Used by tools.sh."""

import json
import os
import sys

from tools_client import EMPTY, Client, check, get, lp1, put, replace

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def is_a(value, name):
    if name in ("integer", "number"):
        return not isinstance(value, bool) and isinstance(value, (int, float))
    return isinstance(value, TYPES[name])


def conforms(value, schema, where):
    """Of JSON Schema as much as the tools use; nothing may be there that is not named."""
    names = schema.get("type", [])
    names = [names] if isinstance(names, str) else names
    check(not names or any(is_a(value, name) for name in names), (where, value, names))
    if "enum" in schema:
        check(value in schema["enum"], (where, value))
    if isinstance(value, dict) and "properties" in schema:
        for name in schema.get("required", []):
            check(name in value, (where, "lacks", name))
        for name, member in value.items():
            check(name in schema["properties"], (where, "is not named:", name))
            conforms(member, schema["properties"][name], where + "." + name)
    if isinstance(value, list) and "items" in schema:
        for member in value:
            conforms(member, schema["items"], where + "[]")


class Walk:
    """Calls tools and checks both halves of each answer."""

    def __init__(self, client):
        self.client = client
        self.schemas = {tool["name"]: tool["outputSchema"]
                        for tool in client.request("tools/list")["result"]["tools"]
                        if "outputSchema" in tool}
        self.seen = set()

    def call(self, name, /, **arguments):
        answer = self.client.call(name, **arguments)
        structured = answer["structuredContent"]
        text = "\n".join(block["text"] for block in answer["content"])
        where = f"{name} {arguments}"
        conforms(structured, self.schemas[name], where)
        check(answer["isError"] == (structured["status"] != "ok"), where)
        check(structured["next"] in text, (where, "next", text))
        self.seen.add((name, structured["status"]))
        if name == "Edit":
            self.edited(structured, text, where)
        return structured, text

    @staticmethod
    def edited(structured, text, where):
        check(structured["next"], where)
        if structured["action"] != "apply_patch" or structured["status"] != "ok":
            check(structured["message"] in text, (where, text))
        for name in ("path", "newline_kind", "current_file_hash", "region_id", "patch_line"):
            if structured[name] is not None:
                check(str(structured[name]) in text, (where, name, text))
        for candidate in structured["candidates"]:
            check(f"{candidate['line']}: {candidate['preview']}" in text, (where, text))
        for file in structured["files"]:
            for name in ("path", "change", "file_hash", "newline_kind"):
                check(file[name] is None or file[name] in text, (where, name, text))
            for lines in file["lines"]:
                check(str(lines["start"]) in text and str(lines["end"]) in text, (where, text))


def reads(walk):
    put("a", b"one\r\ntwo\r\nthree\r\n")
    whole, text = walk.call("Read", path="a")
    check(whole["content"] == "one\r\ntwo\r\nthree\r\n" and not whole["line_numbers"], whole)
    check(whole["file_hash"] in text and "newline_kind CRLF" in text, text)
    part, text = walk.call("Read", path="a", start_line=2)
    check(part["content"] == "2\ttwo\n3\tthree\n" and part["line_numbers"], part)
    check("a: lines 2-3 of 3" in text and part["content"] in text, text)
    part, _ = walk.call("Read", path="a", start_line=2, line_numbers=False)
    check(part["content"] == "two\r\nthree\r\n", part)
    whole, _ = walk.call("Read", path="a", line_numbers=True)
    check(whole["content"].startswith("1\tone\n"), whole)
    for path in ("none", "..", "."):
        failed, _ = walk.call("Read", path=path)
        check(failed["path"] == path and failed["message"], failed)
    walk.call("Read", path="a", line_numbers=1)


def edits(walk):
    done, _ = walk.call("Edit", path="a", old_snippet="two", new_snippet="2\nzwei", region_id="r7")
    check(done["files"][0]["lines"] == [{"start": 2, "end": 3}], done)
    same, _ = walk.call("Edit", path="a", old_snippet="zwei", new_snippet="zwei")
    check(same["message"] == "No changes applied." and same["files"] == [], same)
    none, _ = walk.call("Edit", path="a", old_snippet="thre e", new_snippet="x")
    check(none["status"] == "no_match" and none["candidates"][0]["line"] == 4, none)
    twice, _ = walk.call("Edit", path="a", old_snippet="e", new_snippet="x")
    check(len(twice["candidates"]) == 4, twice)
    wrong, _ = walk.call("Edit", path="a", start_line=9, end_line=9, new_content="x")
    check(wrong["path"] == "a" and wrong["newline_kind"] == "CRLF", wrong)
    for arguments in ({}, {"path": "a"}, {"path": "a", "old_snippet": "x", "start_line": 1},
                      {"path": "a", "old_string": "x", "new_string": "y"}, {"patch": 1},
                      {"path": "none", "old_snippet": "x", "new_snippet": "y"},
                      {"path": "../a", "start_line": 1, "end_line": 1, "new_content": ""}):
        failed, _ = walk.call("Edit", **arguments)
        check(failed["status"] == "error" and failed["path"] == arguments.get("path"), failed)
    put("a", b"other\n")
    stale, text = walk.call("Edit", path="a", start_line=1, end_line=1, new_content="x")
    check(stale["status"] == "stale_file" and "Call Read" in text, text)


def patches(walk):
    walk.call("Read", path="a")
    done, _ = walk.call("Edit", patch=lp1(a=replace("other", "x"), new="T\n1\n2\n.\n"))
    check(done["paths"] == ["a", "new"] and done["path"] is None, done)
    one, _ = walk.call("Edit", patch=lp1(new="T\n3\n.\n"))
    check(one["path"] == "new" and one["current_file_hash"], one)
    none, _ = walk.call("Edit", patch=lp1(a=replace("X", "y"), new=replace("9", "y")))
    check(none["path"] == "a" and none["patch_line"] == 3 and none["operation"] == 1, none)
    broken, _ = walk.call("Edit", patch="LP1\nF a\nQ\n.\nEND\n")
    check(broken["patch_line"] == 3, broken)
    large = "".join(f"{i}\n" for i in range(5000))
    whole = walk.client.call("Edit", patch=lp1(large="T\n" + large + ".\n"))
    check(not whole["isError"] and len(json.dumps(whole)) < 3000, "a large new file comes back")
    _, text = walk.call("Edit", patch=lp1(a="N -\n", large="N +\n"))
    check("\na:\n" in text and "\nlarge:\n" in text, ("several files are labelled", text))
    undone, text = walk.call("Undo")
    check(undone["paths"] == ["a", "large"] and "Read" in text, text)
    check(walk.call("Undo")[1] == EMPTY, "the seed's words and no others")
    walk.call("Undo", path="a")


def history(walk):
    walk.call("checkpoint", name="here", text="why")
    put("a", b"later\n")
    walk.call("status")
    walk.call("status", since="none")
    walk.call("diff")
    walk.call("diff", only_names=1)
    walk.call("log", all=True)
    walk.call("log", limit=0)
    walk.call("checkpoint", name=1)
    walk.call("rollback", to="here", dry_run=True)
    held, text = walk.call("rollback", to="here")
    check(held["others"] and "include_others" in text, held)
    walk.call("rollback", to="none")
    walk.call("rollback", to="here", include_others=True)
    walk.call("revert_to_state", category="failure")
    node = "n" + str(walk.call("checkpoint")[0]["node"][1:])
    walk.call("Edit", patch=lp1(again="T\nx\n.\n"))
    walk.call("revert_to_state", category="tangent", step=node, summary="a note")
    status, text = walk.call("status")
    check(status["reverts"][0]["applied"] and not os.path.exists("again"), status)
    check({"node": node, "text": "[finding] a note"} in status["notes"] and "a note" in text, text)
    nodes = walk.call("log")[0]["nodes"]
    check(any("[finding] a note" in one.get("notes", []) for one in nodes), nodes)


def expect(answer, path=None, line=None, next_has=(), **members):
    """The path, the place and the next call, in both halves (Walk compares them)."""
    structured, text = answer
    if path is not None:
        check(structured["path"] == path, (path, structured))
    if line is not None:
        check(structured["patch_line"] == line, (line, structured))
    for words in next_has:
        check(words in structured["next"], (words, structured["next"]))
    for name, value in members.items():
        check(structured[name] == value, (name, value, structured))
    return text


def patch_errors(walk):
    put("f.c", b"one\ntwo\nthree\n")
    walk.call("Read", path="f.c")
    expect(walk.call("Edit", patch="--- a/f.c\n+++ b/f.c\n@@ -1 +1 @@\n-one\n+1\n"), "f.c", 1,
           ["unified diff", 'Call Edit with path "f.c"'])
    expect(walk.call("Edit", patch="*** Begin Patch\n*** Update File: f.c\n@@\n-one\n+1\n"), "f.c", 1,
           ["another tool", 'Call Edit with path "f.c"'])
    expect(walk.call("Edit", patch="```\n" + lp1(**{"f.c": "T\nx\n.\n"}) + "```\n"), "f.c", 1,
           ["Leave out the lines that begin with ```"])
    expect(walk.call("Edit", patch=lp1(**{"f.c": "R one\n.\n1\n.\n"})), "f.c", 3,
           ["Write R alone on its line"])
    expect(walk.call("Edit", patch=lp1(**{"my file": "T\nx\n.\n"})), "my file", 2,
           ['F "my file"'])
    three = replace("one", "1") + replace("tow", "2") + replace("three", "3")
    text = expect(walk.call("Edit", patch=lp1(**{"f.c": three})), "f.c", 8,
                  ['Call Read for "f.c"', "nothing of it was applied"], operation=2,
                  status="no_match", message="Patch failed for f.c: Match not found")
    check("at line 8 of the patch, operation 2" in text, text)
    check(get("f.c") == b"one\ntwo\nthree\n", "nothing of it was applied")
    expect(walk.call("Edit", patch=lp1(none=replace("a", "b"))), "none", 2, ["Check the path"])


def call_errors(walk):
    expect(walk.call("Edit", path="f.c", old_string="one", new_string="1"), "f.c", None,
           ["instead of", "old_snippet"])
    expect(walk.call("Edit", path="f.c", old_snippet="one", new_snippet="1",
                     match_hint={"start_line": 1}), "f.c", None,
           ['match_hint: {"start_line": 3, "end_line": 9}'])
    expect(walk.call("Edit", path="f.c", start_line=1.0, end_line=1.0, new_content="one"), "f.c",
           status="ok")
    expect(walk.call("Edit", path="f.c", old_snippet="t", new_snippet="T"), "f.c", None,
           ["match_hint"])
    for link, target, words in (("in", "f.c", 'path "f.c"'),
                                ("absolute", os.path.abspath("f.c"), 'path "f.c"'),
                                ("out", "../elsewhere", "out of the workspace")):
        os.symlink(target, link)
        for answer in (walk.call("Edit", path=link, old_snippet="one", new_snippet="1"),
                       walk.call("Edit", patch=lp1(**{link: "T\nx\n.\n"})),
                       walk.call("Read", path=link)):
            expect(answer, link, None, [words])
            check(f"symbolic link to '{target}'" in answer[0]["message"], answer)
    walk.call("Read", path="f.c")
    put("f.c", b"ONE\n")
    for answer in (walk.call("Edit", path="f.c", old_snippet="one", new_snippet="1"),
                   walk.call("Edit", patch=lp1(**{"f.c": "T\nx\n.\n"}))):
        expect(answer, "f.c", None, ["last changed by the user (python3", 'Call Read for "f.c"'],
               status="stale_file")
    seen = walk.call("Read", path="f.c")[0]["file_hash"]
    walk.call("Edit", path="f.c", old_snippet="ONE", new_snippet="TWO")
    expect(walk.call("Edit", path="f.c", start_line=1, end_line=1, new_content="x\n", file_hash=seen), "f.c", None,
           ["last changed by this connection"], status="stale_file")
    for name, arguments in (("rollback", {"to": "none"}), ("status", {"since": "none"}),
                            ("diff", {"from": "n9999"}), ("rollback", {"to": "n9999"})):
        expect(walk.call(name, **arguments), None, None, ["Call log"])
    expect(walk.call("checkpoint", name="n3"), None, None, ["Call checkpoint with another name"])
    for path in ("/etc/passwd", "../f.c"):
        for answer in (walk.call("Read", path=path), walk.call("Edit", path=path, old_snippet="x", new_snippet="y")):
            expect(answer, path, None, ["relative to its top"])
    os.symlink("itself", "itself")
    expect(walk.call("Read", path="itself"), "itself", None, ["leads to itself"])
    refused = walk.client.request("tools/call", {"name": "a\x1b[2J\u202eb", "arguments": {}})
    check(refused["error"]["message"] == "Unknown tool: ab", refused)
    for name, arguments in (("rollback", {"to": "a\u202eb"}), ("log", {"path": "a\x1b[2J"}),
                            ("diff", {"paths": ["a\nb"]}), ("checkpoint", {"name": "\x07"}),
                            ("checkpoint", {"text": "a\x1b[2J\nb"})):
        text = expect(walk.call(name, **arguments))
        check("contains invalid control characters" in text and "\x1b" not in text, text)
    put("linked", b"one\n")
    os.link("linked", "other-name")
    walk.call("Read", path="linked")
    text = expect(walk.call("Edit", path="linked", old_snippet="one", new_snippet="1"), "linked",
                  None, ["one of 2 names of a file"], status="ok")
    expect(walk.call("log", depth=3), None, None, ["path, all, limit"])


def refused_by_a_rule(walk):
    """Which of several files it is."""
    put("plain", b"one\n")
    walk.call("Read", path="plain")
    for files in ({"plain": replace("one", "1"), "a.pem": "T\nx\n.\n"}, {"a.pem": "T\nx\n.\n"}):
        expect(walk.call("Edit", patch=lp1(**files)), "a.pem", None, ["policy allow --agents a.pem"])
    check(get("plain") == b"one\n" and not os.path.exists("a.pem"), "nothing of it")


def refused_undo(walk):
    put("undone", b"one\n")
    walk.call("Read", path="undone")
    walk.call("Edit", path="undone", old_snippet="one", new_snippet="1")
    put("undone", b"other\n")
    text = expect(walk.call("Undo"), None, None, ["Nothing was undone", 'Call Read for "undone"'])
    check(text.startswith("undone: hash mismatch\n"), text)
    expect(walk.call("Undo", path="undone"), None, None, ["Call Undo with {}"])


def fill_the_disk(path):
    with open(path, "wb") as filler:
        try:
            for size in (1 << 20, 1 << 12):
                while True:
                    filler.write(b"x" * size)
                    filler.flush()
        except OSError:
            os.fsync(filler.fileno())


def no_room(walk, directory):
    put("wide", b"x" * 90 + b"\n" + b"y\n" * 90000)
    walk.call("Read", path="wide")
    for i in range(5):  # what is set aside for a full disk goes first
        fill_the_disk(os.path.join(os.path.dirname(directory), f"filler{i}"))
        before = get("wide")
        answer = walk.call("Edit", path="wide", start_line=1, end_line=1, new_content=f"z{i}")
        if get("wide") == before:
            break
    text = expect(answer, "wide", None, ["repeat the edit"])
    check("No space left on device; nothing was changed" in text, text)
    check(get("wide") == before, "nothing was changed")


def to_act_on(program, directory, daemon):
    os.chdir(directory)
    client = Client(program, directory, "modern")
    walk = Walk(client)
    patch_errors(walk)
    call_errors(walk)
    refused_by_a_rule(walk)
    refused_undo(walk)
    no_room(walk, directory)
    os.kill(int(daemon), 9)
    for name, arguments in (("Edit", {"path": "f.c", "old_snippet": "x", "new_snippet": "y"}), ("Undo", {}),
                            ("rollback", {})):
        expect(walk.call(name, **arguments), arguments.get("path"), None, ["Nothing was done. Ask the user: `unwrite mount "])
    client.end()


def disabled(program, directory):
    """tools.edit.enabled = false: Edit is not there."""
    client = Client(program, directory, "modern")
    names = [tool["name"] for tool in client.request("tools/list")["result"]["tools"]]
    check("Edit" not in names and "Read" in names, names)
    check("error" in client.request("tools/call", {"name": "Edit", "arguments": {}}), "hidden")
    client.end()


def both_halves(program, directory):
    os.chdir(directory)
    able = {"elicitation": {"form": {}}}
    client = Client(program, directory, "modern", ("--revert-to-state",))
    walk = Walk(client)
    reads(walk)
    edits(walk)
    patches(walk)
    history(walk)
    client.end()
    for name in ("Read", "Edit", "Undo", "checkpoint", "rollback", "status", "diff", "log",
                 "revert_to_state"):
        check({(name, "ok"), (name, "error")} <= walk.seen, (name, walk.seen))
    check({("Edit", "no_match"), ("Edit", "stale_file")} <= walk.seen, walk.seen)
    for mode, capabilities in (("elicit", {}), ("deny", able)):
        client = Client(program, directory, "2025-11-25", ("--approval", mode), capabilities)
        walk = Walk(client)
        before = get("a")
        walk.call("Read", path="a")
        answer, _ = walk.call("Edit", patch=lp1(a="T\nx\n.\n"), region_id=None)
        check(("token" in answer) == (mode == "elicit"), answer)
        walk.call("rollback", to="root")
        check(get("a") == before, mode)
        client.end()


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
