"""Every house check finds the violation it is for, and says nothing about a clean tree."""

import stat
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from checks import CHECKS  # noqa: E402
from tree import Tree, code_only  # noqa: E402

CLEAN = {
    "README.md": "See [base](base/README.md).\n",
    "base/README.md": "base\n",
    "base/CMakeLists.txt": "unwrite_library(unwrite_base SOURCES fd.cpp)\n",
    "base/fd.h": "#pragma once\n#include <string>\nint openFile();\n",
    "base/fd.cpp": '#include "base/fd.h"\nint openFile() { return ::open("x", 0) + errno; }\n',
    "journal/README.md": "journal\n",
    "journal/CMakeLists.txt":
        "include(more.cmake)\n"
        "unwrite_library(unwrite_journal SOURCES db.cpp DEPENDS unwrite_base)\n",
    "journal/more.cmake": "set(more more.cpp)\n",
    "journal/more.cpp": "",
    "journal/db.cpp": '#include <sqlite3.h>\n#include "base/fd.h"\n'
                      '// errno and ::open( in a comment do no harm\n'
                      'const char* s = "::close(";\nint n = 1\'000\'000; char c = \'"\';\n'
                      'void f() { sys::close(3); db->close(); }\n',
    "tests/README.md": "`journal/` tests the journal.\n",
    "tests/CMakeLists.txt": "add_subdirectory(journal)\n",
    "tests/journal/CMakeLists.txt": "unwrite_test(journal_test SOURCES t.cpp)\nadd(run.py)\n",
    "tests/journal/t.cpp": '#include "base/fd.h"\n#include "tests/support/x.h"\n',
    "tests/journal/run.py": "import helper\n",
    "tests/journal/helper.py": "x = 1\n",
    "tools/README.md": "tools\n",
    "tools/go": "#!/bin/bash\necho \"$base/wo" + "rk/x\"\n",
}

# check -> changes to the clean tree, each of which it must report
PLANTED = {
    "layering": [
        {"base/fd.cpp": '#include "journal/db.h"\n'},
        {"journal/db.cpp": '#include "overlay/session.h"\n'},
        {"journal/db.cpp": '#include <fuse_lowlevel.h>\n'},
        {"journal/db.cpp": '#include "db.h"\n'},
        {"base/fd.cpp": "#include <sqlite3.h>\n"},
        {"base/fd.cpp": "#include <zstd.h>\n"},
        {"journal/db.cpp": "#include <zstd.h>\n"},
        {"base/fd.cpp": '#include "tests/support/x.h"\n'},
        {"fs/a.cpp": '#include "control/server.h"\n'},
        {"control/a.cpp": '#include "fs/mount.h"\n'},
        {"mcp/a.cpp": '#include "cli/main.h"\n'},
        {"fs/a.cpp": '#include "journal/journal.h"\n'},
        {"tests/journal/t.cpp": '#include "overlay/session.h"\n'},
        {"base/CMakeLists.txt": "unwrite_library(unwrite_base SOURCES fd.cpp\n"
                                "    DEPENDS unwrite_journal)\n"},
    ],
    "sizes": [{"base/fd.cpp": "\n" * 501}, {"tools/go": "#!/bin/bash\n" + "\n" * 500}],
    "system_calls": [
        {"journal/db.cpp": "int f() { return errno; }\n"},
        {"journal/db.cpp": "int f() { return ::open(p, 0); }\n"},
        {"journal/db.cpp": "int f() { return\n    ::close (3); }\n"},
    ],
    "process_state": [
        {"journal/db.cpp": "void f() { umask(0); }\n"},
        {"journal/db.cpp": 'void f() { ::setenv("A", "b", 1); }\n'},
        {"cli/text.cpp": "void f() { ::setrlimit(1, nullptr); }\n"},
    ],
    "advice": [
        {"cli/a.cpp": 'void f() { add_command(app, context, "undo", "x");\n'
                      '  c->add_flag("--push", p, "x"); g("hint: `unwrite undo --pull`"); }\n'},
        {"cli/a.cpp": 'void f() { add_subcommand("git", "x"); }\nvoid g() { h("`unwrite git undo "\n'
                      '  "--issue 7"); }\n'},
        {"cli/a.cpp": 'void f() { h("try `unwrite nothing`"); }\n'},
        {"cli/a.cpp": 'void f() { h("`--pull` pulls"); }\n'},
        {"cli/a.cpp": 'void f() { add_command(app, context, "undo", "x"); }\n',
         "README.md": "`unwrite undo --pull`\n"},
    ],
    "forbidden": [
        {"base/fd.cpp": "void f() { thread.detach(); }\n"},
        {"base/fd.cpp": "int f() { return socket(AF_INET, 0, 0); }\n"},
        {"base/fd.cpp": "// TO" + "DO: later\n"},
        {"README.md": "FIX" + "ME\n"},
    ],
    "listed": [
        {"journal/new.cpp": ""},
        {"journal/CMakeLists.txt": "include(more.cmake) # db.cpp\n"},
        {"journal/CMakeLists.txt": "db.cpp\n"},
        {"tests/journal/never_run.py": "x = 1\n"},
    ],
    "places": [
        {"README.md": "Look in /wo" + "rk/main.\n"},
        {"tools/go": "#!/bin/bash\ncd '/wo" + "rk'\n"},
        {"tools/go": "#!/bin/bash\nls /fa" + "rm/x\n"},
        {"tools/go": "#!/bin/bash\ncurl http://deb." + "debian.org/debian\n"},
        {"tools/go": "#!/bin/bash\nnpm --registry https://registry." + "npmjs.org\n"},
    ],
    "readmes": [
        {"overlay/a.cpp": ""},
        {"tests/README.md": "nothing\n"},
    ],
    "attacks": [{"docs/attacks.md": "| 1 | a link | `NoTestHasThisName` |\n"}],
    "links": [{"README.md": "See [it](docs/none.md).\n"}],
    "scripts": [
        {"tools/go": "#!/bin/bash\nif then\n"},
        {"tests/journal/run.py": "def f(:\n"},
        {"tools/other": "#!/usr/bin/env python3\nprint(1)\n"},
    ],
}


def violations(check, files):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            if name == "tools/go":
                path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return CHECKS[check](Tree(folder))


class House(unittest.TestCase):
    def test_every_check_has_a_planted_violation(self):
        self.assertEqual(set(PLANTED), set(CHECKS))

    def test_clean_tree(self):
        for check in CHECKS:
            with self.subTest(check):
                self.assertEqual(violations(check, CLEAN), [])

    def test_planted_violations(self):
        for check, changes in PLANTED.items():
            for change in changes:
                with self.subTest(check, change=change):
                    self.assertEqual(len(violations(check, CLEAN | change)), 1)

    def test_code_only(self):
        self.assertEqual(code_only('a /* x\ny */ b'), "a \n b")
        self.assertEqual(code_only('f("a\\"b" , R"x(errno)x")'), "f(  ,  )")
        self.assertEqual(code_only("1'000 'x' z"), "1'000   z")


if __name__ == "__main__":
    unittest.main()
