#!/bin/bash
# as_user.sh [--looks] COMMAND...: runs it as a user without privileges, who may mount through fusermount3. Exit status
# 77: that cannot be had here, and why. This is the mode "unprivileged" (tests/README.md).
#
# He has a name, a home and a TMPDIR of his own, and in a mount namespace that ends with him everybody can open
# /dev/fuse, as on most systems. What a build writes beside itself he writes in his home: ctest's logs.
#
# --looks: with capabilities to look at what he made unreadable, which the command gives up where it must not have them.
set -euo pipefail

skip() { echo "SKIPPED: $*" >&2; exit 77; }
looks=
if [[ $1 == --looks ]]; then
    looks=+dac_override,+dac_read_search,+fowner
    shift
fi
[[ $EUID == 0 ]] || skip "it needs root to become somebody else"
for program in setpriv unshare fusermount3; do
    command -v "$program" >/dev/null || { echo "$program is missing; run tools/setup" >&2; exit 1; }
done
[[ -c /dev/fuse ]] || skip "this machine has no /dev/fuse"
export user=3001 group=3101 looks

scratch=$(mktemp -d "${TMPDIR:-/tmp}/unwrite-user.XXXXXX")
trap 'rm -rf --one-file-system "$scratch"' EXIT
chmod 755 "$scratch"
mkdir "$scratch"/{dev,home,run,tmp,logs}
chown "$user:$group" "$scratch"/{home,run,tmp,logs}
chmod 700 "$scratch/run"
# fusermount3 wants a name for him.
{ cat /etc/passwd && echo "unwrite-user:x:$user:$group::$scratch/home:/bin/sh"; } >"$scratch/passwd"
chmod 644 "$scratch/passwd"
export scratch

code=0
unshare --mount bash -euc '
    mount -t tmpfs -o dev tmpfs "$scratch/dev"
    mknod -m 666 "$scratch/dev/fuse" c 10 229
    (: <>"$scratch/dev/fuse") 2>/dev/null || { echo "SKIPPED: no FUSE device can be made here" >&2; exit 77; }
    mount --bind "$scratch/dev/fuse" /dev/fuse
    mount --bind "$scratch/passwd" /etc/passwd
    [[ ! -d ${UNWRITE_BUILD_DIR:-}/Testing ]] || mount --bind "$scratch/logs" "$UNWRITE_BUILD_DIR/Testing"
    export TMPDIR=$scratch/tmp HOME=$scratch/home XDG_RUNTIME_DIR=$scratch/run USER=unwrite-user LOGNAME=unwrite-user
    become=(setpriv --reuid="$user" --regid="$group" --clear-groups --inh-caps="-all${looks:+,$looks}" ${looks:+--ambient-caps="$looks"})
    unset scratch user group looks
    # A name that is looked for in a directory of root counts as forbidden, not as absent.
    PATH=$("${become[@]}" bash -c "IFS=:; for one in \$PATH; do [[ ! -x \$one ]] || printf %s: \"\$one\"; done")/bin
    # A checkout below a directory that is closed to others.
    for place in "$(command -v -- "$1")" "${UNWRITE_SOURCE_DIR:-/}" "${UNWRITE_BUILD_DIR:-/}"; do
        "${become[@]}" test -x "$place" || { echo "SKIPPED: another user cannot get at $place" >&2; exit 77; }
    done
    exec "${become[@]}" "$@"' bash "$@" || code=$?
exit "$code"
