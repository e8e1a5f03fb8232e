#!/usr/bin/env python3
"""What reached the model: all texts of the requests that model.py wrote down.

    heard.py FILE has TEXT       exit status 0 when a request has it
    heard.py FILE times TEXT     how often the last request with tools has it
    heard.py FILE show           the texts, for people
"""
import json
import sys


def texts(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from texts(one)


def main():
    file, verb, *rest = sys.argv[1:]
    with open(file) as lines:
        requests = [json.loads(line) for line in lines]
    if verb == "has":
        sys.exit(0 if any(rest[0] in text for one in requests for text in texts(one["body"])) else 1)
    if verb == "times":
        last = [one for one in requests if one["body"].get("tools")][-1:]
        print(sum(text.count(rest[0]) for one in last for text in texts(one["body"])))
        return
    for number, one in enumerate(requests):
        print(f"=== {number} {one['path']}")
        body = one["body"]
        for key in ("messages", "input", "contents"):
            for text in texts(body.get(key, [])):
                print("   |", text[:2000].replace("\n", "\n   |  "))


main()
