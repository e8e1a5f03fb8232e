"""The neutral look at a tree: everything that a restore must bring back, byte for byte.

    walker.py remember DIR FILE      writes what DIR is like to FILE
    walker.py same FILE DIR          prints the first differences; exit status 1 if there are any

With --mounted the link counts must be those of the names that can be seen. The state directory at the top is left
out. Content is hashed in blocks of which those full of zeros are left out, so that holes do not matter and a file
of holes costs nothing.

It is started some thousand times by the stories: what it imports is what takes its time. Hence neither argparse nor
json, nor hashlib, which loads OpenSSL for a hash that is Python's own.
"""

import errno
import marshal
import os
import resource
import stat
import sys

try:
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

BLOCK = 65536
MOST_SHOWN = 25
ZEROS = bytes(BLOCK)


def text(name):
    return name.decode("latin-1")


def content(fd, size):
    digest = blake2b(digest_size=16)
    at = 0
    while at < size:
        try:
            at = os.lseek(fd, at, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:
                break
            raise
        end = os.lseek(fd, at, os.SEEK_HOLE)
        at -= at % BLOCK
        while at < end:
            block = os.pread(fd, BLOCK, at)
            if not block:
                break
            if block != ZEROS[:len(block)]:
                digest.update(at.to_bytes(8, "little") + block.rstrip(b"\0"))
            at += BLOCK
    return digest.hexdigest()


def xattrs(target, follow):
    try:
        names = os.listxattr(target, follow_symlinks=follow)
    except OSError as error:
        if error.errno in (errno.EOPNOTSUPP, errno.EPERM):
            return {}
        raise
    return {os.fsdecode(name): text(os.getxattr(target, name, follow_symlinks=follow)) for name in sorted(names)}


class Walk:
    def __init__(self, mounted):
        self.mounted = mounted
        self.entries = {}
        self.seen = {}
        self.groups = {}
        self.counts = {}

    def describe(self, parent, name, st):
        # A further name of a file that was looked at already, as long as it has not changed in between.
        key = (st.st_dev, st.st_ino, st.st_mtime_ns, st.st_ctime_ns)
        if st.st_nlink > 1 and stat.S_ISREG(st.st_mode) and key in self.seen:
            return dict(self.seen[key])
        entry = {"type": oct(stat.S_IFMT(st.st_mode)), "mode": oct(stat.S_IMODE(st.st_mode)), "uid": st.st_uid,
                 "gid": st.st_gid, "mtime": st.st_mtime_ns}
        if stat.S_ISREG(st.st_mode):
            fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=parent)
            try:
                # What holds is what the descriptor says: the size of a name may be an older one.
                entry["size"] = os.fstat(fd).st_size
                entry["content"] = content(fd, entry["size"])
                entry["xattrs"] = xattrs(fd, True)
            finally:
                os.close(fd)
            if st.st_nlink > 1:
                self.seen[key] = dict(entry)
            return entry
        if stat.S_ISLNK(st.st_mode):
            entry["target"] = text(os.readlink(name, dir_fd=parent))
        elif not stat.S_ISDIR(st.st_mode):
            entry["device"] = st.st_rdev
        entry["xattrs"] = xattrs(b"/proc/self/fd/%d/%s" % (parent, name), False)
        return entry

    def note_links(self, path, st):
        key = (st.st_dev, st.st_ino)
        self.groups.setdefault(key, []).append(path)
        self.counts[key] = st.st_nlink

    def tree(self, top):
        fd = os.open(top, os.O_RDONLY | os.O_DIRECTORY)
        parent = os.open(os.path.dirname(os.path.abspath(top)), os.O_RDONLY | os.O_DIRECTORY)
        entry = self.describe(parent, os.path.basename(os.path.abspath(top)), os.stat(fd))
        os.close(parent)
        self.entries["."] = entry
        names = [name for name in self.names(fd) if name != b".unwrite"]
        stack = [(fd, b"", iter(names))]
        folders = [0]
        while stack:
            fd, prefix, left = stack[-1]
            name = next(left, None)
            if name is None:
                st = os.stat(fd)
                if self.mounted and st.st_nlink not in (1, 2 + folders[-1]):
                    self.entries[text(prefix) or "."]["links"] = st.st_nlink
                os.close(fd)
                stack.pop()
                folders.pop()
                continue
            st = os.stat(name, dir_fd=fd, follow_symlinks=False)
            path = prefix + b"/" + name if prefix else name
            self.entries[text(path)] = self.describe(fd, name, st)
            if stat.S_ISDIR(st.st_mode):
                folders[-1] += 1
                folders.append(0)
                below = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=fd)
                stack.append((below, path, iter(self.names(below))))
            else:
                self.note_links(text(path), st)
        self.add_links()
        return self.entries

    @staticmethod
    def names(fd):
        return sorted(os.fsencode(name) for name in os.listdir(fd))

    def add_links(self):
        for key, paths in self.groups.items():
            if len(paths) > 1:
                for path in paths:
                    self.entries[path]["same file as"] = paths[0]
            if self.mounted and self.counts[key] != len(paths):
                self.entries[paths[0]]["links"] = self.counts[key]


def show(path):
    return ascii(path)[:200]


def differences(before, now):
    for path in sorted(before.keys() | now.keys()):
        if path not in now:
            yield f"{show(path)}: missing"
        elif path not in before:
            yield f"{show(path)}: should not be there"
        elif before[path] != now[path]:
            fields = sorted(before[path].keys() | now[path].keys())
            words = [f"{field} {ascii(before[path].get(field))[:120]} -> {ascii(now[path].get(field))[:120]}"
                     for field in fields if before[path].get(field) != now[path].get(field)]
            yield f"{show(path)}: " + "; ".join(words)


def main():
    arguments = sys.argv[1:]
    mounted = arguments[:1] == ["--mounted"]
    what, first, second = arguments[1:] if mounted else arguments
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    walk = Walk(mounted)
    if what == "remember":
        entries = walk.tree(os.fsencode(first))
        with open(second, "wb") as file:
            marshal.dump(entries, file)
        print(f"{len(entries)} objects")
        return 0
    if what != "same":
        raise SystemExit(__doc__)
    with open(first, "rb") as file:
        before = marshal.load(file)
    now = walk.tree(os.fsencode(second))
    found = list(differences(before, now))
    for line in found[:MOST_SHOWN]:
        print("  " + line)
    if len(found) > MOST_SHOWN:
        print(f"  ... and {len(found) - MOST_SHOWN} more")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
