"""The files of the project, as the house tests see them."""

import os
import re
import subprocess
from pathlib import Path

CODE_FOLDERS = ("base", "journal", "edit", "git", "overlay", "fs", "control", "mcp", "cli")


class Tree:
    """The project's own files below a root: what git tracks or would track."""

    def __init__(self, root):
        self.root = Path(root)
        self.files = sorted(self._from_git() if (self.root / ".git").exists() else self._walk())
        self._set = set(self.files)

    def file_set(self):
        return self._set

    def _from_git(self):
        out = subprocess.run(
            ["git", "-c", "safe.directory=*", "-C", str(self.root), "ls-files", "-z",
             "--cached", "--others", "--exclude-standard"],
            check=True, capture_output=True).stdout
        names = {Path(os.fsdecode(name)) for name in out.split(b"\0") if name}
        return [name for name in names if (self.root / name).is_file()]

    def _walk(self):
        found = []
        for folder, below, names in os.walk(self.root):
            here = Path(folder).relative_to(self.root)
            below[:] = [b for b in below
                        if b not in (".git", "__pycache__", ".cache") and not
                        (here == Path(".") and b == "build")]
            found += [here / name for name in names if not name.endswith(".pyc")]
        return found

    def text(self, file):
        """The file's text, or None when it is not text."""
        data = (self.root / file).read_bytes()
        if b"\0" in data:
            return None
        return data.decode("utf-8", errors="surrogateescape")

    def cpp(self, *folders):
        """C++ sources and headers, in the given top folders or everywhere."""
        for file in self.files:
            if file.suffix in (".cpp", ".h") and (not folders or file.parts[0] in folders):
                yield file

    def scripts(self):
        """(file, interpreter) for every shell and Python script, by name or first line."""
        for file in self.files:
            text = None
            if file.suffix == ".py":
                yield file, "python3"
            elif file.suffix == ".sh":
                yield file, "bash"
            elif not file.suffix:
                text = self.text(file) or ""
                first = text.split("\n", 1)[0]
                for interpreter in ("python3", "bash"):
                    if first.startswith("#!") and interpreter in first:
                        yield file, interpreter


_TOKENS = re.compile(
    r'''(?P<line>//[^\n]*)
      | (?P<block>/\*.*?\*/)
      | (?P<raw>R"(?P<delimiter>[^()\\\s]{0,16})\(.*?\)(?P=delimiter)")
      | (?P<string>"(?:[^"\\\n]|\\.)*")
      | (?P<number>\b[0-9](?:'?[0-9a-zA-Z.])*)
      | (?P<char>'(?:[^'\\\n]|\\.)+')''',
    re.VERBOSE | re.DOTALL)


def code_only(text):
    """C++ text without comments and literals; lines keep their numbers."""

    def blank(match):
        if match.lastgroup == "number" or match.group("number"):
            return match.group()
        return "\n" * match.group().count("\n") or " "

    return _TOKENS.sub(blank, text)


def lines_with(pattern, text):
    """(number, line) of every line in which the pattern is found."""
    return [(number, line) for number, line in enumerate(text.split("\n"), 1)
            if re.search(pattern, line)]


def cmake_lists_above(tree, file):
    """The CMakeLists.txt of the file's folder and of those above, and what they include."""
    texts = []
    for folder in file.parents:
        lists = folder / "CMakeLists.txt"
        if lists in tree.file_set():
            text = re.sub(r"#[^\n]*", "", tree.text(lists))
            texts.append(text)
            for name in re.findall(r"\binclude\(\s*\"?(?:\$\{CMAKE_CURRENT_\w+\}/)?([\w.-]+)", text):
                included = next((folder / n for n in (name, name + ".cmake")
                                 if folder / n in tree.file_set()), None)
                if included:
                    texts.append(re.sub(r"#[^\n]*", "", tree.text(included)))
    return "\n".join(texts)
