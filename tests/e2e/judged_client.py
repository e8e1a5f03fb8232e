"""The mount's rules, as the tools meet them: what asks, asks; what is approved or allowed, works. Used by tools.sh."""

import json
import os
import subprocess
import sys
import threading
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
    check(not client.call("Edit", patch=lp1(**{"gen/yes": "T\nx\n.\n"}))["isError"], "an exception")
    check(client.call("Read", path=".env")["isError"], "a secret")
    for path in ("kept", ".env"):
        done = unwrite(program, directory, "policy", "allow", "--agents", path)
        check(done.returncode == 0, done)
    check(not client.call("Edit", **edit)["isError"] and get("kept") == b"1\n", "policy allow")
    check(client.call("Read", path=".env")["structuredContent"]["content"] == "SECRET=1\n", "allowed")


def waits_for_the_answer(program, directory, client):
    """Somebody looks at the questions: the call waits until they have answered."""
    watch = subprocess.Popen([program, "-C", directory, "--json", "approvals", "--watch"], cwd="/",
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    answers = []
    thread = threading.Thread(target=lambda: answers.append(
        client.call("Edit", patch=lp1(**{"asked/z": "T\nz\n.\n"}))))
    time.sleep(0.5)
    thread.start()
    number = None
    until = time.monotonic() + 20
    while number is None and time.monotonic() < until:
        shown = json.loads(unwrite(program, directory, "--json", "approvals").stdout)
        number = next((one["number"] for one in shown["questions"]
                       if one["path"] == "asked/z" and one["state"] == "open"), None)
        time.sleep(0.05)
    check(number is not None and not os.path.exists("asked/z"), "it waits")
    check(unwrite(program, directory, "approve", str(number)).returncode == 0, "answered")
    thread.join(20)
    check(answers and not answers[0]["isError"] and get("asked/z") == b"z", answers)
    watch.terminate()
    watch.wait(20)


def judged(program, directory):
    os.chdir(directory)
    client = Client(program, directory, "modern")
    one_rule_after_the_other(program, directory, client)
    waits_for_the_answer(program, directory, client)
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
    client.text("Read", path="other")
    refused(client.call("Edit", path="other", old_snippet="one", new_snippet="1"),
            "Path 'other' matched denied pattern 'other'", "policy allow")
    client.end()


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
