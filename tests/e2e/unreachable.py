"""Tries every way into the state directory of a mounted workspace; each must fail as if it were not there."""

import ctypes
import errno
import os
import sys

REFUSALS = {errno.ENOENT, errno.EPERM, errno.EACCES, errno.EXDEV, errno.EINVAL}
failures = []


def must_fail(what, action):
    try:
        result = action()
    except OSError as error:
        if error.errno not in REFUSALS:
            failures.append(f"{what}: {error}")
        return
    failures.append(f"{what}: succeeded with {result!r}")


def main():
    top = os.path.realpath(sys.argv[1])
    os.chdir(top)
    assert b".unwrite" not in os.listdir(os.fsencode(top)), "it is listed"
    with open("probe", "w") as file:
        file.write("probe")
    os.mkdir("probe.d")
    os.symlink(".unwrite", "way in")
    os.symlink(top + "/.unwrite/journal.db", "way in 2")
    here = os.open(".", os.O_RDONLY)
    below = os.open("probe.d", os.O_RDONLY)
    for name in (".unwrite", "./.unwrite", "probe.d/../.unwrite", top + "/.unwrite", "way in", ".unwrite/",
                 ".unwrite/.", f"/proc/self/fd/{here}/.unwrite", f"/proc/self/cwd/.unwrite", f"/proc/self/fd/{below}/../.unwrite"):
        must_fail(f"stat {name}", lambda: os.stat(name))
        must_fail(f"list {name}", lambda: os.listdir(name))
        for inner in ("VERSION", "journal.db", "attic", "lock", "daemon.log"):
            must_fail(f"open {name}/{inner}", lambda: os.open(name + "/" + inner, os.O_RDONLY))
            must_fail(f"write {name}/{inner}", lambda: os.open(name + "/" + inner, os.O_WRONLY | os.O_CREAT, 0o600))
    must_fail("lstat", lambda: os.lstat(".unwrite"))
    must_fail("openat", lambda: os.open(".unwrite", os.O_RDONLY, dir_fd=here))
    must_fail("openat O_PATH", lambda: os.open(".unwrite", os.O_PATH | os.O_NOFOLLOW, dir_fd=here))
    must_fail("openat from below", lambda: os.open("../.unwrite", os.O_RDONLY, dir_fd=below))
    must_fail("through a symlink", lambda: open("way in 2", "rb").read())
    must_fail("mkdir", lambda: os.mkdir(".unwrite"))
    must_fail("create", lambda: os.open(".unwrite", os.O_WRONLY | os.O_CREAT))
    must_fail("create exclusively", lambda: os.open(".unwrite", os.O_WRONLY | os.O_CREAT | os.O_EXCL))
    must_fail("symlink", lambda: os.symlink("x", ".unwrite"))
    must_fail("link", lambda: os.link("probe", ".unwrite"))
    must_fail("mknod", lambda: os.mknod(".unwrite"))
    must_fail("rename onto it", lambda: os.rename("probe", ".unwrite"))
    must_fail("rename a directory onto it", lambda: os.rename("probe.d", ".unwrite"))
    must_fail("rename it", lambda: os.rename(".unwrite", "taken"))
    must_fail("rename it below", lambda: os.rename(".unwrite", "probe.d/taken"))
    must_fail("rename from below", lambda: os.rename("../.unwrite", "taken", src_dir_fd=below, dst_dir_fd=below))
    must_fail("exchange", lambda: exchange(b"probe.d", b".unwrite"))
    must_fail("rmdir", lambda: os.rmdir(".unwrite"))
    must_fail("unlink", lambda: os.unlink(".unwrite"))
    must_fail("chmod", lambda: os.chmod(".unwrite", 0o777))
    must_fail("utime", lambda: os.utime(".unwrite"))
    must_fail("setxattr", lambda: os.setxattr(".unwrite", "user.x", b"x"))
    must_fail("truncate", lambda: os.truncate(".unwrite/journal.db", 0))
    assert os.listdir("probe.d") == [], "something came in below"
    subdirectories = sum(os.path.isdir(name) and not os.path.islink(name) for name in os.listdir("."))
    if os.stat(".").st_nlink not in (1, 2 + subdirectories):
        failures.append(f"the link count of the top, {os.stat('.').st_nlink}, tells of it")
    for name in ("probe", "way in", "way in 2"):
        os.unlink(name)
    os.rmdir("probe.d")
    for line in failures:
        print(line)
    return 1 if failures else 0


def exchange(one, other):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.renameat2(-100, one, -100, other, 2):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


if __name__ == "__main__":
    sys.exit(main())
