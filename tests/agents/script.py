#!/usr/bin/env python3
"""Writes a part of the script that model.py plays; see `plays` in agents.sh.

    script.py FILE WHEN [read PATH | edit PATH OLD NEW | shell COMMAND | say TEXT | tool NAME JSON]...
"""
import json
import pathlib
import sys

ARGUMENTS = {"read": 1, "edit": 3, "shell": 1, "say": 1, "tool": 2}

file, when, *words = sys.argv[1:]
file = pathlib.Path(file)
steps = []
while words:
    kind = words.pop(0)
    given, words = words[: ARGUMENTS[kind]], words[ARGUMENTS[kind] :]
    if kind == "tool":
        steps.append({"tool": given[0], "input": json.loads(given[1])})
    else:
        steps.append({kind: given[0] if len(given) == 1 else given})
script = json.loads(file.read_text()) if file.exists() else []
script = [part for part in script if part["when"] != when] + [{"when": when, "do": steps}]
new = file.with_suffix(".new")
new.write_text(json.dumps(script))
new.rename(file)
