"""What others write to a file that was read, and what that means for an edit of it. Used by tools.sh."""

import mmap
import os
import sys
import time

from tools_client import Client, check, get, lp1, put, replace

NOT_READ = "File was not read before editing, or has been modified since last read"


def store(name, data):
    """Through a shared mapping, whose pages reach the daemon some time later."""
    with open(name, "r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        mapped[:len(data)] = data


def foreign_writes(program, directory):
    """Whatever another one writes to a file, it must be read again: also when its bytes are the
    same again by the time of the edit."""
    os.chdir(directory)
    text = b"one\ntwo\n"
    client = Client(program, directory, "modern")
    other = Client(program, directory, "2025-06-18")

    def edit(old, new):
        return client.call("Edit", path="f", old_snippet=old, new_snippet=new)

    def there_and_back():
        put("f", b"other\n")
        put("f", text)

    def same_bytes():
        with open("f", "r+b") as file:
            file.write(b"one")

    def saved_anew():
        put("f.new", text)
        os.rename("f.new", "f")

    def moved_over():
        os.rename("f", "f.old")
        put("f", text)

    def stored():
        store("f", b"ONE")
        store("f", b"one")

    def cut():
        with open("f", "r+b") as file:
            file.truncate(0)
            file.write(text)

    def longer():
        with open("f", "ab") as file:
            file.write(b"x")
            file.truncate(len(text))

    def copied():
        put("f.from", text)
        source, target = os.open("f.from", os.O_RDONLY), os.open("f", os.O_WRONLY)
        os.copy_file_range(source, target, 3)
        os.close(source)
        os.close(target)

    def holed():
        target = os.open("f", os.O_RDWR)
        os.posix_fallocate(target, 0, 100)
        os.ftruncate(target, len(text))
        os.close(target)

    def another_session():
        other.text("Read", path="f")
        check(not other.call("Edit", path="f", old_snippet="two", new_snippet="2")["isError"], "")
        check("Reverted 1" in other.text("Undo"), "Undo of the other session")

    def rolled_back():
        client.call("checkpoint", name="as-it-was")
        put("f", b"other\n")
        check(not client.call("rollback", include_others=True)["isError"], "rollback")
        check(get("f") == text, "rolled back")

    for writing in (there_and_back, same_bytes, saved_anew, moved_over, stored, cut, longer, copied,
                    holed, another_session, rolled_back):
        put("f", text)
        client.text("Read", path="f", start_line=1, end_line=1)
        writing()
        check(get("f") == text, writing.__name__)
        refused = edit("one", "eins")
        check(refused["structuredContent"]["status"] == "stale_file", (writing.__name__, refused))
        check(refused["content"][0]["text"] == "f: " + NOT_READ or
              refused["content"][0]["text"] == NOT_READ, (writing.__name__, refused))
        patched = client.call("Edit", patch=lp1(f=replace("one", "eins")))
        check(patched["isError"] and NOT_READ in patched["content"][0]["text"], patched)
        check(get("f") == text, writing.__name__)
        # What was read before the write counts no more; what is read now does. Where the kernel
        # serves files by itself the daemon learns of a close a moment later, and until then somebody
        # may be writing.
        for _ in range(100):
            client.text("Read", path="f", start_line=2, end_line=2)
            unread = edit("one", "eins")
            if unread["structuredContent"]["status"] != "stale_file":
                break
            time.sleep(0.02)
        check("only lines 2-2 were read" in unread["content"][0]["text"], unread)
        done = edit("two", "zwei")
        check(not done["isError"], (writing.__name__, done))

    # What writes nothing into the file, and the session's own edits, leave it read.
    put("f", text)
    put("g", b"g\n")
    store("f", b"ONE")
    client.text("Read", path="f")
    get("f")
    os.chmod("f", 0o640)
    os.utime("f")
    os.link("f", "second")
    os.unlink("second")
    os.rename("f", "away")
    os.rename("away", "f")
    put("g", b"other\n")
    client.call("checkpoint", name="between")
    check(not edit("ONE", "1")["isError"], "nobody wrote")
    failed = client.call("Edit", patch=lp1(f=replace("1", "2"), **{"deny.pem": "T\nx\n.\n"}))
    check(failed["isError"], failed)
    check(not edit("1", "eins")["isError"], "an edit that failed leaves what was read")
    check(not edit("two", "zwei")["isError"], "its own edits too")
    put("h", b"h\n")
    client.text("Read", path="h")
    many = lp1(f=replace("eins", "I"), h=replace("h", "H"), made="T\nx\n.\n")
    check(not client.call("Edit", patch=many)["isError"], "")
    many = lp1(f=replace("I", "i"), h=replace("H", "h"), made=replace("x", "y"))
    check(not client.call("Edit", patch=many)["isError"], "files of a patch, and one that it made")
    put("made", get("made"))
    again = client.call("Edit", patch=lp1(f=replace("i", "j"), made=replace("y", "z")))
    check(again["isError"] and "made: " + NOT_READ in again["content"][0]["text"], again)
    client.end()
    other.end()


def put_back(program, directory):
    """An edit of several files fails when it has replaced one already, with nobody to be asked: in a directory that
    the edit makes, the mount asks when the file's turn comes. All is as it was: the files, what was read, and what can
    be undone."""
    os.chdir(directory)
    text = b"one\ntwo\n"
    for name in ("f", "g"):
        put(name, text)
    before = sorted(os.listdir())
    client = Client(program, directory, "modern",
                    around=(program, "-C", directory, "run", "--no-confine", "--on-exit", "keep", "--"))
    both = {"made/new": "T\nnew\n.\n", "f": replace("one", "eins"), ".husky/kept": "T\nx\n.\n"}

    def edit(path, old, new):
        return client.call("Edit", path=path, old_snippet=old, new_snippet=new)

    def fails():
        was = os.stat("f").st_ino
        failed = client.call("Edit", patch=lp1(**both))
        check(failed["isError"] and "kept" in failed["content"][0]["text"], failed)
        check("could not go back" not in failed["content"][0]["text"], failed)
        check(os.stat("f").st_ino != was, "it was replaced, and put back")
        check(get("f") == text, "the bytes are those of before")
        check(sorted(os.listdir()) == before, os.listdir())

    for name in ("f", "g", "kept.db"):
        client.text("Read", path=name)
    check(not edit("g", "one", "eins")["isError"], "")
    fails()
    check("Reverted 1 file(s):\ng" in client.text("Undo"), "the edit before can be undone")
    check(get("g") == text, "undone")
    was = os.stat("f").st_ino
    early = client.call("Edit", patch=lp1(f=replace("one", "eins"), **{"kept.db": replace("one", "eins")}))
    check(early["isError"] and "kept.db" in early["content"][0]["text"] and
          "Ask the user" in early["structuredContent"]["next"], early)
    check(os.stat("f").st_ino == was and get("kept.db") == text, "what can be known before is asked before")
    done = edit("f", "one", "eins")
    check(not done["isError"], ("what was read stays read", done))
    check("Reverted 1" in client.text("Undo"), "")

    # But not when somebody else wrote to it, be it what it holds.
    client.text("Read", path="f")
    fails()
    put("f", text)
    stale = edit("f", "one", "eins")
    check(stale["structuredContent"]["status"] == "stale_file", stale)
    check(NOT_READ in stale["content"][0]["text"], stale)
    client.end()


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
