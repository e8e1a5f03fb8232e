# Single kinds of change, each in three steps with all ways back and forth (lib.sh, three_steps).
# shellcheck shell=bash

S73_metadata_only_steps() {
    needs setfacl setfattr
    mkdir -p "$W/d/below"
    local i
    for i in 1 2 3 4; do seq 100 >"$W/f$i"; done
    ln -s f1 "$W/link"
    mkfifo "$W/fifo"
    setfattr -n user.a -v 1 "$W/f1"
    setfacl -d -m u:99:rwx "$W/d"
    touch -d '2010-10-10 10:10:10.123456789' "$W"/f* "$W/d/below"
    touch -h -d '2011-11-11 11:11:11.987654321' "$W/link" "$W/fifo"
    begin
    # What its owner may not read can be compared by root alone.
    one() { chmod 4755 f1; chmod 640 f2; if_root chmod 000 f2; chmod 2777 d; chmod 600 fifo; }
    two() {
        if_root chown 1000:1001 f1 fifo
        if_root chown -h 12:13 link
        touch -d '1970-01-01 00:00:00.000000001' f3 d d/below
        touch -h -d '2038-01-19 03:14:07.999999999' link
        touch -a f4
    }
    three() {
        setfattr -n user.a -v 2 f1
        setfattr -n user.b -v "$(head -c 2000 /dev/zero | tr '\0' x)" f2
        setfattr -x user.a f1
        setfacl -m u:42:r,g:43:w f4
        setfacl -k d
        setfacl -d -m u:7:rw d/below
        if_root setfattr -n trusted.t -v x d
        chmod g+s f4
    }
    three_steps one two three
}

S49_names_with_odd_bytes() {
    begin
    local odd=$'new\nline' long
    long=$(printf 'n%.0s' {1..255})
    # In Python, since a shell cannot say every name.
    one() {
        python3 - <<'PYTHON'
import os
for name in [b"new\nline", b"\xff\xfe not utf-8", b" ", b"-rf", b"\\", b"tab\there", b"\x1b[31mred", b"n" * 255,
             "ü".encode(), "ü".encode(), b"..x", b"...", b"*", b"'\"", b".unwrite2", b"\x01"]:
    with open(name, "wb") as file:
        file.write(b"content of " + name)
os.mkdir(b"dir\n\xff")
os.symlink(b"tar\nget\xff", b"sym\n\xfe")
PYTHON
    }
    two() {
        python3 - <<'PYTHON'
import os
os.rename(b"new\nline", b"dir\n\xff/moved\n\n")
os.rename(b"\xff\xfe not utf-8", b"\xfe\xff")
os.link(b" ", b"dir\n\xff/ ")
with open(b"-rf", "ab") as file:
    file.write(b"more")
os.unlink(b"sym\n\xfe")
PYTHON
    }
    three() {
        python3 - <<'PYTHON'
import os
for name in os.listdir(b"."):
    if os.path.isfile(name):
        os.unlink(name)
os.rename(b"dir\n\xff", b"\xc3\x28")
PYTHON
    }
    three_steps one two three
    expect 0 -C "$W" --json log --all
    json 'True'
}

S49_directories_and_renames() {
    mkdir -p "$W"/{a/b/c,x/y,swap1,swap2,goes}
    for i in a/1 a/b/2 a/b/c/3 x/4 x/y/5 swap1/s swap2/t goes/6 top; do echo "$i" >"$W/$i"; done
    begin
    one() {
        mv a/b x/b
        mv x renamed-x
        rm -r goes
        echo new >goes
        mv top top.tmp
        mkdir top
        mv top.tmp top/top
    }
    two() {
        python3 - <<'PYTHON'
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
EXCHANGE = 2
for one, other in ((b"swap1", b"swap2"), (b"a/1", b"goes")):
    if libc.renameat2(-100, one, -100, other, EXCHANGE):
        raise OSError(ctypes.get_errno(), "renameat2")
PYTHON
        mv renamed-x/b/c c
        mv renamed-x c/inside
        mkdir renamed-x
        echo again >renamed-x/4
        mv -T renamed-x/4 c/3
    }
    three() {
        rm -rf swap1
        mv swap2 swap1
        mkdir swap2
        mv a/1 chain1
        mv goes a/1
        mv chain1 goes
        mv c/inside/y .
        rmdir renamed-x
        ln -s c renamed-x
    }
    three_steps one two three
}

S49_hard_links() {
    local count=10000
    mkdir "$W/links" "$W/other"
    echo shared >"$W/file"
    echo second >"$W/second"
    begin
    say "$count names for one file"
    one() {
        python3 - "$count" <<'PYTHON'
import os, sys
for i in range(int(sys.argv[1])):
    os.link("file", f"links/{i}")
PYTHON
    }
    two() {
        echo more >>links/17
        rm links/1*
        mv links/2 other/two
        ln -f second links/3
        chmod 600 links/4
    }
    three() {
        rm -rf links
        sed -i s/shared/split/ other/two
        ln file other/three
        rm file
    }
    three_steps one two three
}

# deep_paths DEPTH: names of five bytes, so that from 820 on no path reaches the bottom.
deep_paths() {
    local depth=$1
    begin
    one() {
        python3 - "$depth" <<'PYTHON'
import os, sys
here = os.open(".", os.O_RDONLY)
for i in range(int(sys.argv[1])):
    os.mkdir("depth", dir_fd=here)
    below = os.open("depth", os.O_RDONLY, dir_fd=here)
    os.close(here)
    here = below
with open(os.open("leaf", os.O_WRONLY | os.O_CREAT, dir_fd=here), "w") as file:
    file.write("at the bottom")
PYTHON
    }
    # bottom COMMANDS: Python with `here`, the deepest directory.
    bottom() {
        python3 - "$1" <<'PYTHON'
import os, sys
here = os.open(".", os.O_RDONLY)
while True:
    try:
        below = os.open("depth", os.O_RDONLY, dir_fd=here)
    except FileNotFoundError:
        break
    os.close(here)
    here = below
exec(sys.argv[1])
PYTHON
    }
    two() {
        bottom 'fd = os.open("leaf", os.O_WRONLY, dir_fd=here); os.write(fd, b"AT"); os.fchmod(fd, 0o600)
os.mkdir("e", dir_fd=here); os.rename("leaf", "e/leaf", src_dir_fd=here, dst_dir_fd=here)'
    }
    three() { rm -rf depth/depth/depth; }
    three_steps one two three
    rm -rf "$W/depth"
}

S49_very_deep_paths() { deep_paths 900; }

# More directories in one line than the locator keeps open (1024).
S49_paths_four_thousand_deep() { deep_paths 4000; }

S49_open_files_keep_working() {
    mkdir -p "$W/a/b"
    seq 1000 >"$W/a/b/open"
    seq 1000 >"$W/gone"
    seq 1000 >"$W/mapped"
    begin
    one() {
        python3 - <<'PYTHON'
import os
# The parents of an open file are renamed, and it is written on.
fd = os.open("a/b/open", os.O_RDWR)
os.rename("a", "z")
os.rename("z/b", "c")
os.pwrite(fd, b"written under another name", 500)
assert open("c/open", "rb").read()[500:507] == b"written"
os.fsync(fd)
# Unlinked while open: what is written is nobody's any more, but can be read.
fd = os.open("gone", os.O_RDWR)
os.unlink("gone")
os.pwrite(fd, b"late", 0)
os.ftruncate(fd, 10)
assert os.pread(fd, 100, 0) == b"late" + b"".join(b"%d\n" % i for i in range(1, 6))[4:10], os.pread(fd, 100, 0)
assert os.fstat(fd).st_nlink == 0, os.fstat(fd).st_nlink
open("gone", "w").write("a new one")
PYTHON
    }
    two() {
        python3 - <<'PYTHON'
import mmap, os
with open("mapped", "r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
    memory[100:104] = b"MMAP"
    memory[-3:] = b"END"
    memory.flush()
with open("grown", "w+b") as file:
    file.truncate(200000)
    with mmap.mmap(file.fileno(), 0) as memory:
        memory[150000:150004] = b"page"
# Created, kept open, unlinked, all in one.
fd = os.open("never seen", os.O_RDWR | os.O_CREAT)
os.write(fd, b"x")
os.unlink("never seen")
fd = os.open(".", os.O_TMPFILE | os.O_RDWR) if hasattr(os, "O_TMPFILE") and os.environ.get("TMPFILE") else None
PYTHON
    }
    three() {
        python3 - <<'PYTHON'
import os
fd = os.open("mapped", os.O_RDWR)
os.rename("grown", "mapped")
os.pwrite(fd, b"into the displaced one", 0)
os.truncate("mapped", 1)
PYTHON
    }
    three_steps one two three
}

S48_a_mapping_across_a_checkpoint() {
    head -c 400000 /dev/zero | tr '\0' a >"$W/mapped"
    begin
    say "a process keeps a mapping while checkpoints and rollbacks go by"
    cat >"$scratch/mapper.py" <<'PYTHON'
import mmap, sys
with open("mapped", "r+b") as file:
    memory = mmap.mmap(file.fileno(), 0)
for line in sys.stdin:
    where, what = line.split()
    if what == "?":
        print(memory[int(where):int(where) + 3].decode(), flush=True)
        continue
    memory[int(where):int(where) + len(what)] = what.encode()
    print("done", flush=True)
PYTHON
    coproc mapper { exec python3 "$scratch/mapper.py"; }
    tell() { echo "$*" >&"${mapper[1]}"; read -r answer <&"${mapper[0]}"; }
    remember s0
    tell 0 one
    u checkpoint a
    remember s1
    tell 0 two
    tell 200000 two
    u checkpoint b
    remember s2
    tell 0 thr
    tell 300000 thr
    u rollback b
    same s2
    tell 0 ?
    [[ $answer == two ]] || fail "the mapping shows $answer, not two"
    u rollback a
    same s1
    tell 0 ?
    [[ $answer == one ]] || fail "the mapping shows $answer, not one"
    tell 100 new
    u discard --yes
    same s0
    eval "exec ${mapper[1]}>&-"
    wait "$mapper_PID"
    end
    same s0
}

S48_direct_and_appending_writers() {
    head -c 1000000 /dev/urandom >"$W/direct"
    seq 100 >"$W/log"
    begin
    one() {
        dd if=/dev/urandom of=direct bs=4096 seek=10 count=20 oflag=direct conv=notrunc status=none
        dd if=direct of=copy bs=4096 count=100 iflag=direct oflag=direct status=none
    }
    two() {
        say "two processes append a thousand lines each"
        local pid1 pid2
        python3 -c 'import os
fd = os.open("log", os.O_WRONLY | os.O_APPEND)
for i in range(1000): os.write(fd, b"first %d\n" % i)' & pid1=$!
        python3 -c 'import os
fd = os.open("log", os.O_WRONLY | os.O_APPEND)
for i in range(1000): os.write(fd, b"other %d\n" % i)' & pid2=$!
        wait $pid1
        wait $pid2
        [[ $(wc -l <log) == 2100 ]] || fail "$(wc -l <log) lines, not 2100"
        [[ $(sort -u log | wc -l) == 2100 ]] || fail "lines were lost or torn"
    }
    three() {
        python3 - <<'PYTHON'
import os
fd = os.open("log", os.O_WRONLY | os.O_APPEND)
os.truncate("log", 50)
os.write(fd, b"after the cut\n")
os.posix_fallocate(os.open("direct", os.O_RDWR), 0, 1200000)
src, dst = os.open("direct", os.O_RDONLY), os.open("log", os.O_WRONLY)
try:
    os.copy_file_range(src, dst, 5000, 0, 0)
except OSError:
    os.pwrite(dst, os.pread(src, 5000, 0), 0)
PYTHON
    }
    three_steps one two three
}

S49_types_change_places() {
    local i
    mkdir -p "$W/dir/sub"
    echo f >"$W/file"
    echo f >"$W/dir/sub/x"
    ln -s file "$W/link"
    mkfifo "$W/fifo"
    python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$W/sock"
    begin
    one() {
        rm file && mkdir file && echo in >file/in
        rm -r dir && echo now a file >dir
        rm link && mkfifo link
        rm fifo && ln -s nowhere fifo
        rm sock && echo s >sock
    }
    two() {
        rm -r file && ln -s dir file
        rm dir && python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("dir")'
        if_root mknod device c 1 3
        rm link && echo plain >link
    }
    three() {
        rm file && rm dir && mv link dir && mkdir link && mv dir link/
    }
    three_steps one two three
}

S48_many_small_writes_in_one_file() {
    head -c 5000000 /dev/urandom >"$W/big"
    begin
    # writes SEED: a thousand writes of any size at any place, truncations too.
    writes() {
        python3 - "$1" <<'PYTHON'
import os, random, sys
random.seed(int(sys.argv[1]))
fd = os.open("big", os.O_RDWR)
for i in range(600):
    where = random.randrange(6000000)
    if i % 100 == 99:
        os.ftruncate(fd, where)
    else:
        os.pwrite(fd, random.randbytes(random.choice([1, 10, 4096, 70000])), where)
PYTHON
    }
    one() { writes 1; }
    two() { writes 2; }
    three() { writes 3; }
    three_steps one two three
}

# There a directory that is moved has a new modification time, and an ACL is a trusted attribute as well.
S73_metadata_on_xfs() {
    needs_root "to mount a filesystem"
    needs mkfs.xfs setfacl
    mkdir "$scratch/disk.d"
    truncate -s 512M "$scratch/disk"
    mkfs.xfs -q "$scratch/disk"
    mount -o loop "$scratch/disk" "$scratch/disk.d" 2>/dev/null || skip "there is no xfs, or no loop device, here"
    W=$scratch/disk.d/w
    mkdir -p "$W/old/empty" "$W/old/moves/in" "$W/acl"
    echo text >"$W/acl/file"
    setfacl -m u:42:r "$W/acl/file"
    setfacl -d -m u:7:rwx "$W/acl"
    find "$W" -exec touch -d '2010-10-10 10:10:10.123456789' {} +
    begin
    one() {
        rmdir old/empty
        mv old/moves moved
        setfacl -m g:43:w acl/file
        setfacl -m u:44:x acl
    }
    two() {
        mkdir -p new/in new/other
        mv moved/in new/other/
        setfacl -b acl/file
        setfacl -k acl
    }
    three() {
        mv new/other old/
        mv -T new/in moved
        rmdir new
        setfacl -b acl
    }
    three_steps one two three
    check_state
}

# As in a container: the files are in an image, and become other inodes below when they are first changed.
S49_files_of_a_lower_layer() {
    needs_root "to mount a filesystem"
    mkdir -p "$scratch/lower/w/d" "$scratch/upper" "$scratch/work" "$scratch/merged"
    local file
    for file in written truncated removed moved replaced chmodded d/moved hard; do
        echo "$file" >"$scratch/lower/w/$file"
    done
    ln "$scratch/lower/w/hard" "$scratch/lower/w/hard2"
    ln -s written "$scratch/lower/w/link"
    mount -t overlay overlay "$scratch/merged" \
        -o "lowerdir=$scratch/lower,upperdir=$scratch/upper,workdir=$scratch/work" 2>/dev/null ||
        skip "there is no overlayfs here"
    W=$scratch/merged/w
    begin
    say "names of one file are torn apart by the first change of one of them, there as everywhere on overlayfs"
    rm hard2
    echo new >hard
    u discard --yes --purge
    equal hard hard
    equal hard2 hard
    one() {
        echo more >>written
        echo new >truncated
        rm removed
        mv d/moved d/there
        chmod 600 chmodded
    }
    two() {
        mkdir new
        mv moved new/
        echo new >made
        mv made replaced
        mv link new/
    }
    three() {
        mv new newer
        rm -r newer written
    }
    three_steps one two three
    check_state
}
