"""What an edit does to a file's other names, its owner and its mode. Used by tools.sh."""

import os
import sys

from tools_client import Client, check, get, put


def looks(name):
    now = os.stat(name)
    return now.st_ino, now.st_uid, now.st_gid, now.st_mode & 0o7777, now.st_nlink


def edit(client, name, old, new, has=(), lacks=()):
    """An edit, whose answer says something in both of its halves, or does not."""
    client.call("Read", path=name)
    done = client.call("Edit", path=name, old_snippet=old, new_snippet=new)
    check(not done["isError"], done)
    texts = done["content"][-1]["text"], done["structuredContent"]["next"]
    for text in texts:
        for words in has:
            check(words in text, (words, text))
        for words in lacks:
            check(words not in text, (words, text))


def names(program, directory):
    """An edit and its Undo keep hard links, and say so."""
    os.chdir(directory)
    put("f", b"one\n")
    os.link("f", "other")
    os.chmod("f", 0o640)
    client = Client(program, directory, "modern")
    before = looks("f")
    with open("other", "rb") as reader, open("other", "ab") as writer:
        edit(client, "f", "one", "1", ['"f" is one of 2 names of a file', "All of them have the same text"])
        check(get("f") == get("other") == b"1\n" and looks("f") == before, looks("f"))
        check(reader.read() == b"1\n", "who has it open reads it")
        writer.write(b"appended\n")
    check(get("f") == b"1\nappended\n", "and writes to it")
    client.call("Read", path="f")
    edit(client, "f", "appended", "x")
    undone = client.call("Undo")
    check("is one of 2 names" in undone["structuredContent"]["next"], undone)
    check("is one of 2 names" in undone["content"][1]["text"], undone)
    check(get("other") == b"1\nappended\n" and looks("f") == before, "Undo")
    os.unlink("other")
    edit(client, "f", "1", "one", lacks=["names of a file"])
    client.end()


def owners(program, directory):
    """As a user who is not root: a file of a group that is not theirs stays as it is. What cannot stay, the answer
    says, and why."""
    os.chdir(directory)
    for name, mode in (("own", 0o4755), ("a", 0o444)):
        put(name, b"one\n")
        os.chmod(name, mode)
    os.link("a", "b")
    before = looks("group")
    client = Client(program, directory, "modern")
    edit(client, "group", "one", "1", lacks=["belong", "mode", "names"])
    check(looks("group") == before and before[2] == 7 and get("group") == b"1\n", looks("group"))
    edit(client, "own", "one", "1", ['mode of "own" was 4755, and is now 0755', "clears its set-id bits"])
    os.chmod("group", 0o444)
    edit(client, "group", "1", "2", ["user 65534, group 7, and now belongs to", "you may not write to the file itself"])
    edit(client, "a", "one", "1", ['"a" was one of 2 names', "keep the text that they had", "you may not write to the file itself"])
    check(get("a") == b"1\n" and get("b") == b"one\n" and looks("b")[4] == 1, "cut")
    client.end()


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
