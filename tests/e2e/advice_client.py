"""What a model met that tried the tools without knowing them: each refusal says what to do, names the path that was given
and no other, and an answer's advice can be followed. Used by tools.sh."""

import json
import os
import subprocess
import sys

from answers_client import Walk, expect
from judged_client import Watching, begun, open_question, unwrite
from tools_client import Client, check, get, lp1, put, replace


def paths_of_history(walk):
    put("src/a.c", b"one\n")
    put("other", b"one\n")
    top = os.getcwd()
    for path in ("src", "./src/", top + "/src", top + "/./src/a.c"):
        shown, _ = walk.call("diff", paths=[path], only_names=True)
        check([one["path"] for one in shown["changes"]] in (["src"], ["src/a.c"]), (path, shown))
    for path in (".", top):
        shown, _ = walk.call("diff", paths=["src/none", path], only_names=True)
        check(len(shown["changes"]) > 1, (path, shown))
    walk.call("checkpoint")
    for path in (top + "/src", "src/"):
        nodes = walk.call("log", path=path)[0]["nodes"]
        check(nodes and all("src" in json.dumps(node["changes"]) for node in nodes), (path, nodes))
    check(walk.call("log", path=top)[0]["nodes"], "the top is everything")
    for path in ("../x", "src/../../x", "/etc", top + "x"):
        for name, arguments in (("diff", {"paths": ["src", path]}), ("log", {"path": path})):
            answer = expect(walk.call(name, **arguments), None, None, ["relative to its top"], status="error")
            check(f"(attempted: {path}," in answer, answer)


def two_names_of_one_file(walk):
    put("linked", b"one\ntwo\n")
    os.link("linked", "other-name")
    for name in ("linked", "other-name"):
        walk.call("Read", path=name)
    both = lp1(**{"linked": replace("one", "1"), "other-name": replace("two", "2")})
    answer = walk.call("Edit", patch=both)
    expect(answer, "other-name", None, ["one section"], status="error")
    check('the same file as "linked"' in answer[0]["message"], answer)
    check(get("linked") == b"one\ntwo\n", "nothing was changed")
    done, _ = walk.call("Edit", patch=lp1(linked=replace("one", "1") + replace("two", "2")))
    check(done["status"] == "ok" and get("other-name") == b"1\n2\n", done)


def status_since(walk):
    put("early", b"one\n")
    walk.call("checkpoint", name="c1")
    for since, words in (("c1", "No changes since c1"), (None, "changed since n1,")):
        status, text = walk.call("status", since=since)
        check(words in status["message"] and words in text, (since, status, text))


def hidden_by_a_rule(walk):
    """The same words as for a file that is missing."""
    for call in (lambda path: walk.call("Read", path=path),
                 lambda path: walk.call("Edit", path=path, old_snippet="x", new_snippet="y"),
                 lambda path: walk.call("Edit", patch=lp1(**{path: replace("x", "y")}))):
        there, missing = call("hidden/secret"), call("missing/secret")
        check(json.dumps(there).replace("hidden/", "missing/") == json.dumps(missing), (there, missing))
    for path in ("hidden/secret", "hidden/new"):
        answer = walk.call("Edit", patch=lp1(**{path: "T\nx\n.\n"}))
        check(answer[0]["message"] == path + ": permission denied", answer)
        check("policy" not in answer[1] and "rule" not in answer[1] and "config" not in answer[1], answer)


def denied_by_the_user(walk):
    """A call that waits for the user, who says no."""
    program, directory = walk.client.program, os.getcwd()
    with Watching(program, directory):
        call = begun(walk.client, patch=lp1(**{"asked/new": "T\nx\n.\n"}))
        number = open_question(program, directory, "asked/new")
        check(unwrite(program, directory, "deny", str(number)).returncode == 0, "answered")
        answer = walk.client.receive(20)
        check(answer["id"] == call["id"], answer)
    again = walk.client.call("Edit", patch=lp1(**{"asked/new": "T\nx\n.\n"}))
    for told in (answer["result"], again):
        structured = told["structuredContent"]
        check("was denied by the user: 'asked/**'" in structured["message"], told)
        check("Do not try it again" in structured["next"] and "approve" not in json.dumps(told), told)
    check(not os.path.exists("asked/new"), "nothing was made")
    shown = unwrite(program, directory, "log", "--audit").stdout
    check(f"asked edit asked/new  by mcp-{walk.client.process.pid} " in shown, ("who asked", shown))


def places(walk):
    """The example in the advice for a snippet that occurs twice is one that works."""
    put("twice", b"a\na\nb\n")
    walk.call("Read", path="twice")
    answer = walk.call("Edit", path="twice", old_snippet="a", new_snippet="x")
    hint = json.loads(answer[0]["next"].split("match_hint: ")[1].rstrip("."))
    done, _ = walk.call("Edit", path="twice", old_snippet="a", new_snippet="x", match_hint=hint)
    check(done["status"] == "ok" and get("twice") == b"x\na\nb\n", done)
    answer = walk.call("Edit", path="twice", start_line=4, end_line=4, new_content="x")
    expect(answer, "twice", None, ["Give lines from 1 to 3. To add lines at the end"])
    put("cr", b"one\rtwo\rthree\r")
    walk.call("Read", path="cr")
    done, text = walk.call("Edit", path="cr", start_line=2, end_line=2, new_content="2")
    check(done["files"][0]["lines"] == [{"start": 2, "end": 2}] and "cr: modified, line 2," in text, text)
    check("2 -two\n2 +2\n" in text and "-one" not in text, text)
    text = expect(walk.call("Edit", patch=lp1(twice="N -\n")), "twice", None, ["has no newline any more"])
    expect(walk.call("Edit", patch=lp1(twice="N +\n") + "and so on\n"), "twice", 5, ["what follows the line END"])


def what_edit_does_next(walk):
    """Read says that Edit can change the lines only where it can."""
    put("plain", b"one\n")
    put("long", b"x" * 99 + b"\n" + b"y\n" * 150000)
    os.makedirs("asked", exist_ok=True)
    put("asked/there", b"one\n")
    for path, words in (("plain", "Edit can change these lines."),
                        ("long", "Edit does not take this file: it has 300100 bytes, and Edit takes at most 204800."),
                        ("kept", "A rule forbids Edit to change this file: 'kept' (.unwrite/config.toml:7)"),
                        ("asked/there", "A rule asks the user before Edit changes this file: 'asked/**'")):
        expect(walk.call("Read", path=path, start_line=1, end_line=1), path, None, [words])
    put("grows", b"one\n" + b"x" * 150000)
    walk.call("Read", path="grows")
    done = walk.call("Edit", path="grows", old_snippet="one", new_snippet="y" * 60000)
    expect(done, "grows", None, ['"grows" now has 210001 bytes, and Edit takes at most 204800', "Undo takes"])


def slashes(walk):
    """A name with a slash behind is a directory, as for every program."""
    put("file", b"one\n")
    for answer in (walk.call("Read", path="file/"), walk.call("Edit", path="file/", old_snippet="one", new_snippet="1"),
                   walk.call("Edit", patch=lp1(**{"file/": "T\nx\n.\n"}))):
        expect(answer, "file/", None, ['path "file"'])
        check("file/: Not a directory" in answer[0]["message"], answer)
    answer = walk.call("Edit", patch=lp1(**{"newd/": "T\nx\n.\n"}))
    expect(answer, "newd/", None, ["without the slash"])
    check(not os.path.lexists("newd"), "nothing was made")
    check("Path is a directory" in walk.call("Read", path="src/")[1], "a directory is one")


def parents(walk):
    """Which directory could not be made, and for which file."""
    answer = walk.call("Edit", patch=lp1(**{".unwrite/config.toml": "T\nx\n.\n"}))
    expect(answer, ".unwrite/config.toml", None, ["unwrite keeps its own files in .unwrite"], status="error")
    check("Failed to create parent directories (.unwrite)" in answer[0]["message"], answer)


def links_that_lead_out(walk):
    os.symlink("/etc", "out")
    os.symlink("../out", "src/again")
    for path, link in (("out/passwd", "out"), ("src/again/passwd", "src/again")):
        for answer in (walk.call("Read", path=path),
                       walk.call("Edit", path=path, old_snippet="x", new_snippet="y")):
            expect(answer, path, None, [f'"{link}" is a symbolic link', "out of the workspace"])
    expect(walk.call("Read", path="out/passwd"), None, None, ["to '/etc'"])


def undo_of_a_hard_link(walk):
    put("one-name", b"one\n")
    os.link("one-name", "second-name")
    walk.call("Read", path="one-name")
    walk.call("Edit", path="one-name", old_snippet="one", new_snippet="1")
    undone, text = walk.call("Undo")
    check("new text" not in text and "is one of 2 names of a file" in undone["next"], text)
    check("All of them have the same text" in undone["next"], undone)


def another_connection(walk):
    """Who changed the file was another connection of the tools, which has ended."""
    put("shared", b"one\n")
    walk.call("Read", path="shared")
    other = Client(walk.client.program, os.getcwd(), "modern")
    other.call("Read", path="shared")
    check(not other.call("Edit", path="shared", old_snippet="one", new_snippet="two")["isError"], "the other edits")
    other.end()
    fresh = Walk(Client(walk.client.program, os.getcwd(), "modern"))
    fresh.call("Read", path="shared", start_line=1)
    put_by_other = Client(walk.client.program, os.getcwd(), "modern")
    put_by_other.call("Read", path="shared")
    put_by_other.call("Edit", path="shared", old_snippet="two", new_snippet="three")
    put_by_other.end()
    for one in (walk, fresh):
        expect(one.call("Edit", path="shared", old_snippet="two", new_snippet="x"), "shared", None,
               ["last changed by another connection of these tools"], status="stale_file")
    fresh.client.end()


def wrong_configuration(program, directory):
    """The server starts, and each call says what is wrong."""
    client = Client(program, directory, "2025-11-25")
    walk = Walk(client)
    for name, arguments in (("status", {}), ("Read", {"path": "x"}), ("Undo", {}),
                            ("Edit", {"path": "x", "old_snippet": "a", "new_snippet": "b"})):
        answer = walk.call(name, **arguments)
        expect(answer, None, None, ["Ask the user to correct the configuration"], status="error")
        check("unwrite.toml" in answer[0]["message"] and "nonsense" in answer[0]["message"], answer)
    client.end()


PARTS = [paths_of_history, two_names_of_one_file, status_since, hidden_by_a_rule, denied_by_the_user, places,
         what_edit_does_next, slashes, parents, links_that_lead_out, undo_of_a_hard_link, another_connection]


def all_of_it(program, directory):
    names = os.environ.get("UNWRITE_PARTS", "").split()
    os.chdir(directory)
    os.makedirs("src")
    client = Client(program, directory, "modern", ("--revert-to-state",))
    client.program = program
    walk = Walk(client)
    for part in PARTS:
        if not names or part.__name__ in names:
            part(walk)
    client.end()


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
