"""Who is asked before a tool changes files: clients that can ask their user, and such as cannot. Used by tools.sh."""

import os
import sys

from tools_client import EMPTY, Client, check, get, lp1, put, replace


def approval(program, directory):
    os.chdir(directory)
    able = {"elicitation": {"form": {}}}
    client = Client(program, directory, "modern", ("--approval", "elicit"), able)
    call = {"name": "Edit", "arguments": {"patch": lp1(asked="T\nx\n.\n")}}
    asked = client.request("tools/call", call)["result"]
    check(asked["resultType"] == "input_required", asked)
    check(asked["inputRequests"]["approve"]["params"]["message"] ==
          "Apply patch to 1 file(s): asked\n1 +x\n", ("the diff", asked))
    check(not os.path.exists("asked"), "nothing before the answer")
    other = {"name": "Edit", "arguments": {"patch": lp1(other="T\nx\n.\n")},
             "requestState": asked["requestState"],
             "inputResponses": {"approve": {"action": "accept", "content": {}}}}
    check("error" in client.request("tools/call", other), "an approval is for its call alone")
    for action, result in (("decline", False), ("accept", True)):
        asked = client.request("tools/call", call)["result"]
        client.request("tools/call", {
            **call, "requestState": asked["requestState"],
            "inputResponses": {"approve": {"action": action, "content": {}}}})
        check(os.path.exists("asked") == result, action)
    client.end()
    os.unlink("asked")
    for era in ("modern", "2025-06-18"):
        confirmed(program, directory, era, call)

    shown_again(program, directory, able)
    changed_meanwhile(program, directory, able)
    legacy = Client(program, directory, "2025-11-25", ("--approval", "elicit"), able)
    legacy.send(legacy.message("tools/call", call))
    question = legacy.receive()
    check(question["method"] == "elicitation/create", question)
    legacy.send({"jsonrpc": "2.0", "id": question["id"],
                 "result": {"action": "accept", "content": {}}})
    check(not legacy.receive()["result"]["isError"] and os.path.exists("asked"), "legacy")
    legacy.end()
    never = Client(program, directory, "2025-06-18", ("--approval", "deny"))
    check(never.text("rollback").startswith("Tool 'rollback' is denylisted\n"), "deny")
    check(never.text("Edit", **call["arguments"]).startswith("Tool 'Edit' is denylisted\n"), "deny")
    check(never.text("Undo") == EMPTY, "S8: the seed's sentence in each mode")
    check(not never.call("Read", path="asked")["isError"], "deny")
    never.end()


def changed_meanwhile(program, directory, able):
    """An edit or an Undo that would do something else by the time the user agrees; and one that cannot be done."""
    client = Client(program, directory, "modern", ("--approval", "elicit"), able)

    def asked(name, **arguments):
        return client.call(name, **arguments)["inputRequests"]["approve"]["params"]["message"]

    def agree(name, arguments):
        question = client.call(name, **arguments)
        while question.get("resultType") == "input_required":
            question = client.request("tools/call", {
                "name": name, "arguments": arguments, "requestState": question["requestState"],
                "inputResponses": {"approve": {"action": "accept", "content": {}}}})["result"]
        return question

    check(client.text("Undo") == EMPTY, "nobody is asked about an empty Undo")
    for arguments in ({"path": "none", "old_snippet": "x", "new_snippet": "y"}, {"patch": "x"},
                      {"patch": lp1(**{"a.pem": "T\nx\n.\n"})}):
        check("structuredContent" in client.call("Edit", **arguments), "nobody is asked in vain")
    put("edited", b"1\n2\n3\n")
    client.text("Read", path="edited")
    edit = {"path": "edited", "old_snippet": "2", "new_snippet": "two"}
    check("2 -2\n2 +two\n" in asked("Edit", **edit), "the diff")
    question = client.call("Edit", **edit)
    put("edited", b"0\n1\n2\n3\n")
    state = {"name": "Edit", "arguments": edit, "requestState": question["requestState"],
             "inputResponses": {"approve": {"action": "accept", "content": {}}}}
    stale = client.request("tools/call", state)["result"]
    check(stale["structuredContent"]["status"] == "stale_file", "what changed is not edited")
    client.text("Read", path="edited")
    check(agree("Edit", edit)["structuredContent"]["status"] == "ok", "done")
    question = client.call("Undo")
    check("3 -two\n3 +2\n" in question["inputRequests"]["approve"]["params"]["message"], question)
    check(not agree("Edit", {"patch": lp1(edited=replace("3", "drei"))})["isError"], "another edit")
    state = {"name": "Undo", "arguments": {}, "requestState": question["requestState"],
             "inputResponses": {"approve": {"action": "accept", "content": {}}}}
    again = client.request("tools/call", state)["result"]
    check("+3" in again["inputRequests"]["approve"]["params"]["message"], ("asked again", again))
    check(get("edited") == b"0\n1\ntwo\ndrei\n", "an Undo agreed to for one edit takes back no other")
    check(client.call("Edit", patch=lp1(edited="T\n.\n"))["content"][0]["text"] ==
          "No changes applied.", "nobody is asked about nothing")
    client.end()
    os.unlink("edited")


def shown_again(program, directory, able):
    """A rollback that would do more by the time the user agrees than it did when they were asked."""
    legacy = Client(program, directory, "2025-06-18", ("--approval", "elicit"), able)
    modern = Client(program, directory, "modern", ("--approval", "elicit"), able)
    call = {"name": "rollback", "arguments": {"to": "root", "include_others": True}}
    for client in (legacy, modern):
        put("first", b"x")
        message = client.message("tools/call", call)
        client.send(message)
        asked = client.receive()
        for later in ("second", None):
            question = (asked["params"] if client is legacy else
                        asked["result"]["inputRequests"]["approve"]["params"])
            check("deleted: first" in question["message"], question)
            check(os.path.exists("first"), "nothing before the user agreed to what they saw")
            if later:
                put(later, b"y")
            if client is legacy:
                client.send({"jsonrpc": "2.0", "id": asked["id"],
                             "result": {"action": "accept", "content": {}}})
            else:
                client.send(client.message("tools/call", {
                    **call, "requestState": asked["result"]["requestState"],
                    "inputResponses": {"approve": {"action": "accept", "content": {}}}}))
            asked = client.receive()
        check(not asked["result"]["isError"] and not os.path.exists("first"), asked)
        client.end()


def confirmed(program, directory, era, call):
    """A client that cannot ask the user: what a call would do, and then a token that lets it."""
    def token(answer):
        check(answer["isError"] and "Nothing was done yet" in answer["content"][0]["text"], answer)
        return answer["structuredContent"]["token"]

    client = Client(program, directory, era, ("--approval", "elicit"))
    names = [tool["name"] for tool in client.request("tools/list")["result"]["tools"]]
    check("confirm" in names, names)
    asked = client.request("tools/call", call)["result"]
    check("Apply patch to 1 file(s): asked" in asked["content"][0]["text"], asked)
    first = token(asked)
    check(not os.path.exists("asked"), "nothing before it is confirmed")
    for wrong in ({}, {"token": "1"}, {"token": first + "0"}, {"token": 1}):
        check(client.call("confirm", **wrong)["isError"], wrong)
    check(not os.path.exists("asked"), "nor with another token")
    check(not client.call("confirm", token=first)["isError"] and os.path.exists("asked"), "done")
    again = client.call("confirm", token=first)
    check(again["isError"] and "is not that of a call" in again["content"][0]["text"], "once")
    other = Client(program, directory, era, ("--approval", "elicit"))
    second = token(client.call("Undo"))
    check(other.call("confirm", token=second)["isError"] and os.path.exists("asked"), "elsewhere")
    other.end()
    client.text("confirm", token=second)
    check(not os.path.exists("asked"), "an Undo, too, whose schema takes nothing")
    put("shown", b"x")
    third = client.call("rollback", to="root", include_others=True)
    check("would do this" in third["content"][0]["text"] and "shown" in
          third["content"][0]["text"], third)
    put("later", b"x")
    fourth = client.call("confirm", token=token(third))
    check("later" in fourth["content"][0]["text"] and token(fourth) != token(third) and
          os.path.exists("shown"), "what would be done by now is shown first")
    last = token(client.call("rollback", to="root", include_others=True))
    check(not client.call("confirm", token=last)["isError"] and not os.path.exists("later") and
          not os.path.exists("shown"), "a rollback that is as it was shown")
    check("error" not in client.call("rollback", to="no such") and
          "token" not in client.call("rollback", to="no such")["content"][0]["text"], "not shown")
    for name, arguments in (("status", {}), ("checkpoint", {}),
                            ("rollback", {"dry_run": True, "to": "root"})):
        check(not client.call(name, **arguments)["isError"], "what changes no file is not asked about")
    client.end()
    plain = Client(program, directory, era)
    names = [tool["name"] for tool in plain.request("tools/list")["result"]["tools"]]
    check("confirm" not in names and "error" in plain.request("tools/call", {
        "name": "confirm", "arguments": {"token": "1"}}), "only where it is of use")
    plain.end()


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
