"""The rules of the house. Each check takes a Tree and returns a list of violations."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tree import CODE_FOLDERS, cmake_lists_above, code_only, lines_with

# folder -> the folders it may include from (docs/architecture.md draws this).
LAYERS = {
    "base": set(),
    "journal": {"base"},
    "edit": {"base"},
    "git": {"base"},
    "overlay": {"base", "journal", "edit"},
    "fs": {"base", "overlay"},
    "control": {"base", "overlay"},
    "mcp": {"base", "edit", "git", "overlay"},
    "cli": {"base", "journal", "edit", "git", "overlay", "fs", "control", "mcp"},
}

# Headers of an outside library and the folders that may include them. A library that is
# known in one folder only can be replaced there.
OUTSIDE = {
    r"(fuse3/)?fuse\w*\.h|linux/fuse\.h|cuse_lowlevel\.h": ("fs", "tests/fs", "tests/power"),
    r"sqlite3\w*\.h": ("journal", "tests/journal"),
    r"CLI/.*": ("cli", "tests/cli"),
    r"nettle/.*": ("base", "tests/base"),
    r"zstd\w*\.h|zdict\.h": ("base/compression.cpp", "tests/base"),
    r"n?curses.*|term\.h|panel\.h": ("cli/screen",),
}

# Where a process begins that is ours: the program itself, the daemon, and what `run` forks.
PROCESSES = ("main.cpp", "daemon.cpp", "guard.cpp", "confine.cpp")

# For the proxy of `run --network model`; nothing else talks to a network.
NETWORK = Path("base/tcp.cpp")

MOST_LINES = 500
MANY_LINES = 300


def layering(tree):
    """Includes, and the libraries named in CMake, follow the order of the layers."""
    wrong = []
    include = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
    for file in tree.cpp():
        folder = file.parts[0]
        layer = file.parts[1] if folder == "tests" and len(file.parts) > 2 else folder
        for number, line in enumerate(tree.text(file).split("\n"), 1):
            match = include.match(line)
            if not match:
                continue
            header = match.group(2)
            target = header.split("/", 1)[0]
            if target in LAYERS and layer in LAYERS:
                allowed = LAYERS[layer] | {layer}
                if folder == "tests":
                    allowed = reachable(layer)
                if target not in allowed:
                    wrong.append(f"{file}:{number}: {layer}/ may not include {header}")
            if target == "tests" and folder != "tests":
                wrong.append(f"{file}:{number}: {folder}/ may not include {header}")
            if match.group(1) == '"' and "/" not in header:
                wrong.append(f"{file}:{number}: name the folder: \"{header}\" is not from the root")
            for pattern, homes in OUTSIDE.items():
                if re.fullmatch(pattern, header) and not in_folder(file, homes):
                    wrong.append(f"{file}:{number}: <{header}> is for {homes[0]} alone")
    for folder, allowed in LAYERS.items():
        lists = Path(folder) / "CMakeLists.txt"
        if lists in tree.file_set():
            for number, line in enumerate(tree.text(lists).split("\n"), 1):
                for target in re.findall(r"\bunwrite_(\w+)\b(?!\s*\()", line.split("#")[0]):
                    if target in LAYERS and target != folder and target not in allowed:
                        wrong.append(f"{lists}:{number}: {folder}/ may not link unwrite_{target}")
    return wrong


def reachable(layer):
    found, todo = set(), [layer]
    while todo:
        folder = todo.pop()
        if folder not in found:
            found.add(folder)
            todo += LAYERS[folder]
    return found


def in_folder(file, folders):
    return any(file.is_relative_to(folder) for folder in folders)


def sizes(tree):
    """No source file is longer than anyone reads in one sitting."""
    wrong = []
    files = {file for file in tree.files if file.suffix in (".cpp", ".h")}
    files |= {file for file, _ in tree.scripts()}
    for file in sorted(files):
        count = tree.text(file).count("\n")
        if count > MOST_LINES:
            wrong.append(f"{file}: {count} lines, more than {MOST_LINES}")
        elif count > MANY_LINES:
            print(f"note: {file} has {count} lines; consider splitting it")
    return wrong


def system_calls(tree):
    """errno and raw descriptors are handled in base/ alone; the rest uses its wrappers."""
    wrong = []
    pattern = r"\berrno\b|(?<![\w>])::(open|openat|close)\s*\("
    for file in tree.cpp(*CODE_FOLDERS):
        if file.parts[0] != "base":
            for number, line in lines_with(pattern, code_only(tree.text(file))):
                wrong.append(f"{file}:{number}: only base/ may do this: {line.strip()}")
    return wrong


def process_state(tree):
    """What belongs to the whole process (umask, limits, signals, environment, directory) is the business of the entry
    points: a library that changes it changes it for git, hooks, editors and the other threads, too."""
    wrong = []
    pattern = r"(?<![\w.>])(umask|setrlimit|prlimit|setenv|unsetenv|putenv|clearenv|chdir|fchdir|chroot|signal|sigaction|" \
        r"sigprocmask|setlocale|nice)\s*\("
    for file in tree.cpp(*CODE_FOLDERS):
        if file.parts[0] != "cli":
            for number, line in lines_with(pattern, code_only(tree.text(file))):
                wrong.append(f"{file}:{number}: only cli/ may do this: {line.strip()}")
        elif file.name not in PROCESSES:
            for number, line in lines_with(r"(?<![\w.>])(umask|setrlimit|prlimit|setenv|unsetenv|putenv|chdir|fchdir)\s*\(",
                                           code_only(tree.text(file))):
                wrong.append(f"{file}:{number}: only {', '.join(PROCESSES)} may do this: {line.strip()}")
    return wrong


def forbidden(tree):
    """Detached threads, network sockets, and notes that something is left to do."""
    wrong = []
    for file in tree.cpp():
        code = code_only(tree.text(file))
        for number, line in lines_with(r"(\.|->)detach\s*\(\s*\)", code):
            wrong.append(f"{file}:{number}: a thread must be joined: {line.strip()}")
        for number, line in lines_with(r"\bAF_INET6?\b|\bPF_INET6?\b", code):
            if file != NETWORK:
                wrong.append(f"{file}:{number}: only {NETWORK} talks to a network: {line.strip()}")
    unfinished = r"\b(TO" + r"DO|FIX" + r"ME)\b"
    for file in tree.files:
        text = tree.text(file)
        if text is not None:
            for number, line in lines_with(unfinished, text):
                wrong.append(f"{file}:{number}: finish it or drop it: {line.strip()}")
    return wrong


def listed(tree):
    """Every source is named in a CMakeLists.txt; a test that is not named never runs."""
    wrong = []
    for file in tree.files:
        if file.suffix == ".cpp":
            if not named(file.name, cmake_lists_above(tree, file)):
                wrong.append(f"{file}: not in any CMakeLists.txt from its folder upwards")
        elif file.parts[0] == "tests" and file.suffix in (".py", ".sh"):
            near = cmake_lists_above(tree, file)
            for other in tree.files:
                if other.parent == file.parent and other != file and \
                        other.suffix in (".py", ".sh"):
                    near += tree.text(other)
            if not named(file.name, near) and not named(file.stem, near):
                wrong.append(f"{file}: named neither in a CMakeLists.txt nor by a neighbour")
    return wrong


def named(name, text):
    return re.search(r"(?<![\w.-])" + re.escape(name) + r"(?![\w-])", text) is not None


def places(tree):
    """Nothing depends on one machine's folders or names a package mirror."""
    wrong = []
    # Put together here so that this file does not find itself.
    hosts = [r"deb\." + r"debian\.org", r"registry\." + r"npmjs\.org",
             r"pypi\." + r"org\b", r"files\." + r"pythonhosted\.org"]
    folders = [r"(?<![\w.$}*)/\"'-])/(wo" + r"rk|fa" + r"rm)(/|\b)"]
    folders += [r"[\"'=: (]/(wo" + r"rk|fa" + r"rm)(/|\b)"]
    pattern = "|".join(hosts + folders)
    for file in tree.files:
        text = tree.text(file)
        if text is not None:
            for number, line in lines_with(pattern, text):
                wrong.append(f"{file}:{number}: belongs to one machine: {line.strip()[:120]}")
    return wrong


def readmes(tree):
    """Every folder has a README.md, or is explained by name in the one above it."""
    wrong = []
    folders = {folder for file in tree.files for folder in file.parents
               if folder != Path(".") and not folder.parts[0].startswith(".")}
    for folder in sorted(folders):
        if folder / "README.md" in tree.file_set():
            continue
        above = folder.parent / "README.md"
        if len(folder.parts) > 1 and above in tree.file_set() and \
                f"`{folder.name}/`" in tree.text(above):
            continue
        wrong.append(f"{folder}: no README.md" +
                     (f", nor a word about `{folder.name}/` in {above}"
                      if len(folder.parts) > 1 else ""))
    return wrong


def links(tree):
    """Relative links in the documentation lead somewhere."""
    wrong = []
    for file in tree.files:
        if file.suffix != ".md":
            continue
        text = re.sub(r"```.*?```", "", tree.text(file), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            path = target.split("#", 1)[0]
            if not path or re.match(r"[a-z]+:", target):
                continue
            if not (tree.root / file.parent / path).exists():
                wrong.append(f"{file}: the link to {target} leads nowhere")
    return wrong


def attacks(tree):
    """The tests that docs/attacks.md names exist."""
    wrong = []
    tests = "\n".join(tree.text(file) or "" for file in tree.files if file.parts[0] == "tests"
                      and file.suffix in (".cpp", ".sh"))
    page = Path("docs/attacks.md")
    for line in (tree.text(page) if page in tree.file_set() else "").split("\n"):
        for name in re.findall(r"`(\w+)`", line.rpartition(" | ")[2]):
            if not named(name, tests):
                wrong.append(f"{page}: no test has the name {name}")
    return wrong


GLOBAL_OPTIONS = {"--json", "--help", "--version"}


def options_by_command(tree):
    """Command -> the options that the file which defines it adds."""
    found = {}
    for file in tree.cpp("cli"):
        text = tree.text(file)
        # The options of a command's own commands are its own here.
        names = set(re.findall(r'\badd_subcommand\(\s*"([a-z][a-z-]*)"', text)) or \
            set(re.findall(r'\badd_\w+\([^";]*"([a-z][a-z-]*)"', text))
        flags = "\n".join(re.findall(r'\badd_(?:option|flag)\w*\(\s*"([^"]+)"', text))
        for name in names:
            found.setdefault(name, set()).update(re.findall(r"--[a-z][a-z-]*", flags))
    return found


def advice(tree):
    """Commands and options that messages and documents name exist."""
    wrong = []
    known = options_by_command(tree)
    every = GLOBAL_OPTIONS.union(*known.values())
    named_command = re.compile(r"(`?)unwrite (?:-C \S+ )?([a-z][a-z-]*)([^`\\\"\n;|&>]*)")
    for file in tree.files:
        texts = []
        if file.suffix == ".md" and file.name != "CHANGELOG.md":
            texts = [tree.text(file)]
        elif file.suffix in (".cpp", ".h") and file.parts[0] in CODE_FOLDERS:
            # Neighbouring literals are one text.
            texts = re.findall(r'"(?:[^"\\\n]|\\.)*"', re.sub(r'"\s*\n\s*"', "", tree.text(file)))
        for text in texts:
            for option in re.findall(r"`(--[a-z][a-z-]*)", text) if file.suffix != ".md" else []:
                if option not in every:
                    wrong.append(f"{file}: no command has {option}")
            for tick, command, rest in named_command.findall(text):
                if command not in known:
                    if tick and file.suffix != ".md":
                        wrong.append(f"{file}: there is no command: unwrite {command}")
                    continue
                for option in re.findall(r"--[a-z][a-z-]*", rest.split(" -- ")[0]):
                    if option not in known[command] | GLOBAL_OPTIONS:
                        wrong.append(f"{file}: unwrite {command} has no {option}")
    return wrong


def scripts(tree):
    """Scripts parse, and those that are run directly may be executed."""
    wrong = []
    for file, interpreter in tree.scripts():
        path = tree.root / file
        if interpreter == "bash":
            result = subprocess.run(["bash", "-n", str(path)], capture_output=True, text=True)
            if result.returncode:
                wrong.append(f"{file}: {result.stderr.strip()}")
        else:
            try:
                compile(path.read_bytes(), str(file), "exec")
            except SyntaxError as error:
                wrong.append(f"{file}: {error}")
        starts = (tree.text(file) or "").startswith("#!")
        if not file.suffix and starts and not os.access(path, os.X_OK):
            wrong.append(f"{file}: not executable")
    return wrong


CHECKS = {check.__name__: check for check in (
    layering, sizes, system_calls, process_state, forbidden, listed, places, readmes, links, attacks, advice,
    scripts)}


def main():
    from tree import Tree
    name = sys.argv[1]
    root = sys.argv[2] if len(sys.argv) > 2 else os.environ["UNWRITE_SOURCE_DIR"]
    wrong = CHECKS[name](Tree(root))
    for line in wrong:
        print(line)
    print(f"{name}: {len(wrong)} violations" if wrong else f"{name}: ok")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
