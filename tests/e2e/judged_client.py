"""The mount's rules, as the tools meet them: what asks, asks; what is approved or allowed, works. Used by tools.sh."""

import json
import os
import subprocess
import sys
import time

from tools_client import Client, check, get, lp1, put, replace


def unwrite(program, directory, *words):
    return subprocess.run([program, "-C", directory, *words], cwd="/", check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def refused(answer, words, next_has):
    check(answer["isError"], answer)
    structured = answer["structuredContent"]
    check(words in structured["message"], (words, structured["message"]))
    check(next_has in structured["next"], (next_has, structured["next"]))
    return structured


def one_rule_after_the_other(program, directory, client):
    create = {"patch": lp1(**{"asked/x": "T\nx\n.\n"})}
    told = refused(client.call("Edit", **create), "Path 'asked/x' needs the user's approval: 'asked/**'",
                   "unwrite approve ")
    check(not os.path.exists("asked/x"), "nothing before the approval")
    number = told["next"].split("unwrite approve ")[1].split("`")[0]
    done = unwrite(program, directory, "approve", number)
    check(done.returncode == 0, done)
    check(not client.call("Edit", **create)["isError"] and get("asked/x") == b"x", "approve helps")
    refused(client.call("Edit", patch=lp1(**{"asked/y": "T\ny\n.\n"})), "needs the user's approval", "approve")

    for path in (".envrc", ".husky/pre-commit"):
        refused(client.call("Edit", patch=lp1(**{path: "T\nx\n.\n"})), "needs the user's approval", "approve")
    client.text("Read", path="kept")
    edit = {"path": "kept", "old_snippet": "one", "new_snippet": "1"}
    refused(client.call("Edit", **edit), "Path 'kept' matched denied pattern 'kept'", "policy allow --agents")
    refused(client.call("Edit", patch=lp1(**{"gen/no": "T\nx\n.\n"})), "matched denied pattern 'gen/**'",
            "Leave this file alone")
    done = client.call("Edit", patch=lp1(**{"gen/yes": "T\nx\n.\n"}))
    check(not done["isError"], ("an exception", done))
    check(client.call("Read", path=".env")["isError"], "a secret")
    for path in ("kept", ".env"):
        done = unwrite(program, directory, "policy", "allow", "--agents", path)
        check(done.returncode == 0, done)
    check(not client.call("Edit", **edit)["isError"] and get("kept") == b"1\n", "policy allow")
    check(client.call("Read", path=".env")["structuredContent"]["content"] == "SECRET=1\n", "allowed")


def open_question(program, directory, path):
    until = time.monotonic() + 20
    while time.monotonic() < until:
        shown = json.loads(unwrite(program, directory, "--json", "approvals").stdout)
        for one in shown["questions"]:
            if one["path"] == path and one["state"] == "open":
                return one["number"]
        time.sleep(0.05)
    raise AssertionError("nobody is asked about " + path)


def waits_for_the_answer(program, directory, client):
    """Somebody looks at the questions: the call waits until they have answered. Meanwhile the server answers pings,
    and the call can be cancelled."""
    watch = subprocess.Popen([program, "-C", directory, "--json", "approvals", "--watch"], cwd="/",
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    watch.stderr.readline()
    for path, cancels in (("asked/z", False), ("asked/never", True)):
        call = client.message("tools/call", {"name": "Edit", "arguments": {
            "patch": lp1(**{path: "T\nz\n.\n"})}})
        client.send(call)
        number = open_question(program, directory, path)
        ping = client.message("ping")
        client.send(ping)
        check(client.receive(5)["id"] == ping["id"] and not os.path.exists(path), "a ping meanwhile")
        if cancels:
            client.send({"jsonrpc": "2.0", "method": "notifications/cancelled",
                         "params": {"requestId": call["id"]}})
            late = client.message("ping")
            client.send(late)
            check(client.receive(5)["id"] == late["id"], "no answer to what was cancelled")
        check(unwrite(program, directory, "approve", str(number)).returncode == 0, "answered")
        if cancels:
            client.call("status")
            check(not os.path.exists(path), "nor was it done")
        else:
            answer = client.receive(20)
            check(answer["id"] == call["id"] and not answer["result"]["isError"], answer)
            check(get(path) == b"z", "done")
    watch.terminate()
    watch.wait(20)


class Watching:
    """Somebody who looks at the questions, so that calls wait."""

    def __init__(self, program, directory):
        self.process = subprocess.Popen(
            [program, "-C", directory, "--json", "approvals", "--watch"], cwd="/",
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def __enter__(self):
        self.process.stderr.readline()

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(20)


def begun(client, **arguments):
    """A call of Edit that is sent, and not waited for."""
    call = client.message("tools/call", {"name": "Edit", "arguments": arguments})
    client.send(call)
    return call


def answers_pings(client):
    ping = client.message("ping")
    client.send(ping)
    check(client.receive(5)["id"] == ping["id"], "a ping meanwhile")


def hook(path, name):
    return {"path": path, "old_snippet": "bare = false", "new_snippet": f"bare = false\n\t{name} = x"}


def asked_by_content(program, directory, client):
    """Rules that look at what will be there: what they pass is done at once, what they ask about waits for the answer,
    listens meanwhile and can be cancelled."""
    put(".git/config", b"[core]\n\tbare = false\n")
    client.text("Read", path=".git/config")
    with Watching(program, directory):
        passes = client.call("Edit", patch=lp1(**{".git/config": "T\n[user]\n\tname = x\n.\nN +\n"}))
        check(not passes["isError"], ("a harmless setting", passes))
        call = begun(client, **hook(".git/config", "editor"))
        number = open_question(program, directory, ".git/config")
        answers_pings(client)
        client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": call["id"]}})
        answers_pings(client)
        check(unwrite(program, directory, "deny", str(number)).returncode == 0, "answered")
        check(b"editor" not in get(".git/config"), "cancelled")
        call = begun(client, **hook(".git/config", "pager"))
        number = open_question(program, directory, ".git/config")
        answers_pings(client)
        shown = json.loads(unwrite(program, directory, "--json", "approvals").stdout)
        check(any("core.pager" in json.dumps(one) for one in shown["questions"]), shown)
        check(unwrite(program, directory, "approve", str(number)).returncode == 0, "answered")
        answer = client.receive(20)
        check(answer["id"] == call["id"] and not answer["result"]["isError"], answer)
        check(b"pager = x" in get(".git/config"), "done")


def in_a_directory_that_is_not_there(program, directory, client, in_run):
    """Each name that the mount would ask about is asked about before the edit begins."""
    name = "asked/dir-" + str(client.process.pid)
    with Watching(program, directory):
        begun(client, patch=lp1(**{name + "/x": "T\nx\n.\n"}))
        for path in (name + "/x", name)[:2 if in_run else 1]:
            number = open_question(program, directory, path)
            answers_pings(client)
            check(not os.path.exists(name), "nothing before the answer")
            check(unwrite(program, directory, "approve", str(number)).returncode == 0, "answered")
        answer = client.receive(20)
        check(not answer["result"]["isError"] and get(name + "/x") == b"x", answer)


def replaced_under_a_question(program, directory, client):
    """The answer is for what was there: what somebody put in its place meanwhile stays."""
    os.makedirs("asked", exist_ok=True)

    def link(path):
        os.unlink(path)
        os.symlink("../kept", path)

    def saved_anew(path):
        put("new", b"one\nmore\n")
        os.rename("new", path)

    with Watching(program, directory):
        for number, replace_it in enumerate((lambda path: put(path, b"by somebody\n"), saved_anew, link)):
            path = f"asked/kept-{number}"
            if os.path.lexists(path):
                os.unlink(path)
            put(path, b"one\n")
            client.text("Read", path=path)
            begun(client, path=path, old_snippet="one", new_snippet="two")
            question = open_question(program, directory, path)
            replace_it(path)
            now = get(path)
            check(unwrite(program, directory, "approve", str(question)).returncode == 0, "answered")
            stale = client.receive(20)["result"]["structuredContent"]
            check(stale["status"] == "stale_file" and "Read" in stale["next"], stale)
            check(get(path) == now, "what is there by now stays")


def judged(program, directory):
    os.chdir(directory)
    client = Client(program, directory, "modern")
    one_rule_after_the_other(program, directory, client)
    waits_for_the_answer(program, directory, client)
    asked_by_content(program, directory, client)
    replaced_under_a_question(program, directory, client)
    in_a_directory_that_is_not_there(program, directory, client, False)
    client.end()
    client = Client(program, directory, "modern",
                    around=(program, "-C", directory, "run", "--no-confine", "--on-exit", "keep", "--"))
    asked_by_content(program, directory, client)
    replaced_under_a_question(program, directory, client)
    in_a_directory_that_is_not_there(program, directory, client, True)
    client.end()


def judged_in_a_run(program, directory):
    """The server of a run: the mount knows it as an agent, and judges it itself."""
    os.chdir(directory)
    client = Client(program, directory, "modern",
                    around=(program, "-C", directory, "run", "--no-confine", "--on-exit", "keep", "--"))
    client.text("Read", path=".git/config")
    edit = {"path": ".git/config", "old_snippet": "bare = false", "new_snippet": "bare = false\n\teditor = x"}
    refused(client.call("Edit", **edit), "Path '.git/config' needs the user's approval", "Ask the user")
    name = {"patch": lp1(**{".git/config": "T\n[user]\n\tname = x\n.\nN +\n"})}
    done = client.call("Edit", **name)
    check(not done["isError"] and b"name = x" in get(".git/config"), ("harmless settings pass", done))
    refused(client.call("Edit", patch=lp1(**{"kept": replace("1", "one")})), "was not read", "Call Read")
    refused(client.call("Edit", patch=lp1(**{"asked/a": "T\nx\n.\n"})),
            "Path 'asked/a' needs the user's approval", "unwrite approve ")
    client.text("Read", path="other")
    refused(client.call("Edit", path="other", old_snippet="one", new_snippet="1"),
            "Path 'other' matched denied pattern 'other'", "policy allow")
    client.end()


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
