# Files that are larger than what is in them.
# shellcheck shell=bash

S49_sparse_file_of_two_gib() {
    begin
    truncate -s 2G "$W/old"
    printf 'middle' | dd of=old bs=1 seek=1073741824 conv=notrunc status=none
    u commit --yes
    one() {
        truncate -s 2G made
        printf 'x' | dd of=made bs=1 seek=1000000000 conv=notrunc status=none
        printf 'in a hole' | dd of=old bs=1 seek=500000000 conv=notrunc status=none
    }
    two() {
        fallocate -p -o 1073740000 -l 131072 old 2>/dev/null ||
            dd if=/dev/zero of=old bs=1024 seek=1048576 count=64 conv=notrunc status=none
        truncate -s 3G old
        cp --sparse=always made copy
    }
    three() {
        truncate -s 5 old
        rm made
        fallocate -l 1M made 2>/dev/null || truncate -s 1M made
    }
    three_steps one two three
    local kib
    kib=$(du -sk "$W" | cut -f1)
    say "everything together takes $kib KiB"
    ((kib < 100000)) || fail "the holes were filled: $kib KiB"
}

# sparse_look FILE: its size and where it has which bytes; holes are looked for, not read.
sparse_look() {
    python3 - "$1" <<'PYTHON'
import errno, hashlib, os, sys
fd = os.open(sys.argv[1], os.O_RDONLY)
size, at = os.fstat(fd).st_size, 0
print("size", size)
while at < size:
    try:
        at = os.lseek(fd, at, os.SEEK_DATA)
    except OSError as error:
        if error.errno != errno.ENXIO:
            raise
        break
    end = os.lseek(fd, at, os.SEEK_HOLE)
    while at < end:
        piece = os.pread(fd, min(4096, end - at), at)
        if piece.strip(b"\0"):
            print(at, hashlib.sha256(piece).hexdigest())
        at += len(piece)
PYTHON
}
S49_sparse_file_of_a_hundred_gib() {
    observed   # the other path looks through the holes of a file in use (docs/known-gaps.md)
    local gib=$((1 << 30)) state
    # put GIB TEXT: a block of 4 KiB.
    put() { printf '%4096s' "$2" | dd of=big bs=4096 count=1 iflag=fullblock seek=$(($1 * gib / 4096)) conv=notrunc status=none; }
    kib() { du -sk "$1" | cut -f1; }
    cd "$W"
    truncate -s $((100 * gib)) big 2>/dev/null || skip "no such large file here"
    put 0 old
    put 50 old
    put 99 old
    local blocks
    blocks=$(kib big)
    sparse_look big >"$scratch/s0"
    begin
    u checkpoint a
    put 10 new
    put 50 new
    sparse_look big >"$scratch/s1"
    u checkpoint b
    put 30 newer
    put 50 newer
    truncate -s $((60 * gib)) big
    fallocate -p -o 0 -l 8192 big
    sparse_look big >"$scratch/s2"
    u checkpoint c
    truncate -s $((200 * gib)) big
    put 150 newest
    sparse_look big >"$scratch/s3"
    for state in s2:undo s3:redo s2:rollback\ c s1:rollback\ b s0:rollback\ a s3:redo\ 3 s0:discard\ --yes s3:redo\ 3; do
        # shellcheck disable=SC2086  # the words of a command
        u ${state#*:}
        sparse_look big >"$scratch/now"
        cmp "$scratch/now" "$scratch/${state%%:*}" || fail "not ${state%%:*} after ${state#*:}"
    done
    u discard --yes
    end
    say "the holes are holes, and the journal is small"
    sparse_look "$W/big" | cmp - "$scratch/s0"
    (($(kib "$W/big") <= blocks + 256)) || fail "the file takes $(kib "$W/big") KiB, not $blocks"
    (($(du -sk --exclude=ballast "$W/.unwrite" | cut -f1) < 8192)) || fail "the journal takes $(kib "$W/.unwrite") KiB"
    check_state
}
