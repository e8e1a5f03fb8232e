#!/bin/bash
# as_owner.sh PARITY_TEST: the cells of the owner once more, as he has them without root: he mounts through fusermount3, and the daemon
# has no more rights than he. Exit status 77: skipped.
set -euo pipefail
test=$(realpath "$1")

skip() { echo "SKIPPED: $*" >&2; exit 77; }
[[ $EUID == 0 ]] || skip "it needs root to become somebody else"
command -v fusermount3 >/dev/null || { echo "fusermount3 is missing; run tools/setup" >&2; exit 1; }
scratch=$(mktemp -d "${TMPDIR:-/tmp}/unwrite-parity.XXXXXX")
trap 'rm -rf --one-file-system "$scratch"' EXIT
mkdir "$scratch/dev" "$scratch/home"
chmod 755 "$scratch"
chown 3001:3101 "$scratch/home"
# fusermount3 wants a name for him.
{ cat /etc/passwd && echo "unwrite-owner:x:3001:3101::$scratch/home:/bin/sh"; } >"$scratch/passwd"
chmod 644 "$scratch/passwd"
export test scratch

# In a mount namespace of its own everybody can open /dev/fuse, as on most systems, and its mounts end with it.
code=0
unshare -m bash -euc '
    mount -t tmpfs -o dev tmpfs "$scratch/dev"
    mknod -m 666 "$scratch/dev/fuse" c 10 229
    mount --bind "$scratch/dev/fuse" /dev/fuse
    (: <>/dev/fuse) 2>/dev/null || exit 77
    mount --bind "$scratch/passwd" /etc/passwd
    export TMPDIR=$scratch/home HOME=$scratch/home
    # The capabilities are for the looks alone, at what he made unreadable; neither what he does nor the daemon has them.
    looks=+dac_override,+dac_read_search,+fowner
    exec setpriv --reuid=3001 --regid=3101 --clear-groups --inh-caps="$looks" --ambient-caps="$looks" "$test" --gtest_filter="Cells/*:ParityOfAll.*"' || code=$?
[[ $code != 77 ]] || skip "no FUSE device can be made here"
exit "$code"
