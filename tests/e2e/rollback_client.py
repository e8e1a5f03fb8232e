"""The tool rollback, whose connection is a session of its own. Used by tools.sh."""

import os
import subprocess
import sys

from tools_client import Client, check, get, put


def told(client, has=(), lacks=(), failed=False, **arguments):
    """A call of rollback: words that both halves have (or lack), and whether it was refused."""
    answer = client.call("rollback", **arguments)
    text = "\n".join(block["text"] for block in answer["content"])
    structured = answer["structuredContent"]
    check(answer["isError"] == failed, answer)
    for words in has:
        check(words in text, (words, text))
        check(words in structured["message"] + "\n" + structured["next"], (words, structured))
    for words in lacks:
        check(words not in text and words not in structured["message"] + structured["next"], (words, text))
    return structured


def replaced(client, old, new):
    answer = client.call("Edit", path="f", old_snippet=old, new_snippet=new)
    check(not answer["isError"], answer)


def bare(program, directory):
    """Without a name it goes to the newest checkpoint, never to what was before the connection, never over the work
    of others."""
    os.chdir(directory)
    put("f", b"0\n")
    client = Client(program, directory, "modern")
    first = client.call("status")["structuredContent"]["current"]
    told(client, [f'rollback with to "{first}"', "where this connection began"], failed=True)

    subprocess.run([program, "-C", directory, "checkpoint", "base"], check=True, stdout=subprocess.DEVNULL)
    client = Client(program, directory, "modern")
    first = client.call("checkpoint", name="one")["structuredContent"]["node"]
    client.call("Read", path="f")
    replaced(client, "0", "1")
    told(client, ["n", "(one)", "modified: f, by this connection"], ["include_others"], dry_run=True)
    second = client.call("checkpoint")["structuredContent"]["node"]
    replaced(client, "1", "2")
    check(told(client, [f"Rolled back to {second}."])["to"] == second, "the newest, although it has no name")
    check(get("f") == b"1\n", "its second edit is taken back")
    same = told(client, ["There was nothing to do: the files are as they were at " + second], ["takes this back"])
    check(same["from"] is None and same["to"] == second, same)

    # Another connection of the same agent: it has no checkpoint of its own.
    later = Client(program, directory, "modern")
    later.call("Read", path="f")
    began = later.call("status")["structuredContent"]["current"]
    replaced(later, "1", "3")
    check(began == second, (began, second))
    third = told(later, [f"Rolled back to {second}."])
    check(third["to"] == second and get("f") == b"1\n", "no further than where it began")
    mine = later.call("checkpoint")["structuredContent"]["node"]
    newest = Client(program, directory, "modern")
    newest.call("Edit", patch="LP1\nF g\nT\ng\n.\nEND\n")
    moved = subprocess.run([program, "-C", directory, "rollback", "one"], check=False, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT)
    check(moved.returncode == 0, moved)
    for arguments in ({}, {"to": "one"}):
        node = told(newest, ["is from before this connection began", 'Call rollback with to "' + mine + '"'], failed=True,
                    **arguments)
        check(node["from"] is None, node)
    for one in (client, later, newest):
        one.end()


def others(program, directory):
    """What others changed is named, with whose it is, and stays without include_others."""
    os.chdir(directory)
    client = Client(program, directory, "modern")
    client.call("checkpoint", name="mine")
    client.call("Edit", patch="LP1\nF f\nT\nby the tool\n.\nEND\n")
    put("of the user", b"x\n")
    lines = ["deleted: f, by this connection", "deleted: of the user, by the user (python3"]
    whose = "Only with include_others: what was changed by the user (python3"
    dry = told(client, lines + [whose, "would be refused", "include_others true"], dry_run=True)
    check({change["path"]: change["by"][0][:8] for change in dry["changes"]} ==
          {"f": "this con", "of the user": "the user"}, dry)
    refused = told(client, ["Nothing was done", lines[1], whose, "Ask the user"], failed=True)
    check(refused["others"][0].startswith("the user (python3") and len(refused["others"]) == 1, refused)
    check(refused["changes"][0]["by"] == ["this connection"], refused)
    check(get("of the user") == b"x\n" and os.path.exists("f"), "nothing was done")
    told(client, [whose], ["would be refused"], dry_run=True, include_others=True)
    told(client, ["Rolled back to"], include_others=True)
    check(not os.path.exists("f") and not os.path.exists("of the user"), "it may when it is told so")
    client.end()


def in_a_run(program, directory):
    """All of the run is the agent's own; what the user changes meanwhile is not, and only they can take it back."""
    os.chdir(directory)
    client = Client(program, directory, "modern", around=(
        program, "-C", directory, "run", "--no-confine", "--on-exit", "keep", "--", "sh", "-c",
        'echo made >made; "$@"', "sh"))
    node = client.call("checkpoint")["structuredContent"]["node"]
    client.call("Edit", patch="LP1\nF f\nT\nx\n.\nEND\n")
    told(client, ["deleted: f, by this run"], dry_run=True)
    put("u", b"x\n")
    dry = told(client, ["deleted: u, by the user (python3"], dry_run=True)
    check(dry["others"] and dry["others"][0].startswith("the user (python3"), dry)
    for arguments in ({}, {"include_others": True}):
        told(client, ["the user (python3", f"`unwrite rollback {node}`"], ["log --changes", "include_others true"],
             failed=True, **arguments)
    check(get("u") == b"x\n" and os.path.exists("f"), "nothing was done")
    os.unlink("u")
    told(client, ["Rolled back to"])
    check(not os.path.exists("f") and get("made") == b"made\n", "what the run did since")
    client.end()


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
