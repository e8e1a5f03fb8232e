#!/bin/bash
# story.sh FILE STORY: runs one story (a function of FILE) in a scratch directory of its own, for at most
# UNWRITE_STORY_SECONDS, and leaves neither a mount nor a process behind, whatever happens. Exit status 77: skipped.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
file=$1
story=$2
program=${UNWRITE_PROGRAM:-${UNWRITE_BUILD_DIR:?}/unwrite}
program=$(realpath -m -- "$program")

[[ -x $program ]] || { echo "FAILED: there is no $program" >&2; exit 1; }
if [[ ! -e /dev/fuse ]]; then
    echo "SKIPPED: this machine has no /dev/fuse" >&2
    exit 77
fi
scratch=$(mktemp -d "${TMPDIR:-/tmp}/unwrite-e2e.XXXXXX")
scratch=$(realpath "$scratch")
chmod 755 "$scratch"
mkdir "$scratch/meta"

# mounts_here: mount points in the scratch directory, the innermost first.
mounts_here() {
    awk -v top="$scratch/" 'index($5, top) == 1 { print $5 }' /proc/self/mountinfo | tac |
        while read -r mount; do printf '%b\0' "$mount"; done
}
clean_up() {
    # The story's processes first: it is the leader of a session of its own.
    local session mount pid
    session=$(cat "$scratch/meta/session" 2>/dev/null)
    [[ -z $session ]] || pkill -KILL -s "$session" 2>/dev/null
    while IFS= read -r -d '' mount; do
        umount -l -- "$mount" 2>/dev/null || fusermount3 -uz -- "$mount" 2>/dev/null
    done < <(mounts_here)
    if [[ -f $scratch/daemons ]]; then
        while read -r pid; do
            for _ in $(seq 100); do is_daemon "$pid" || break; sleep 0.05; done
            if is_daemon "$pid"; then
                echo "note: the daemon $pid did not end by itself" >&2
                kill -KILL "$pid" 2>/dev/null
            fi
        done <"$scratch/daemons"
    fi
}
# Asked some hundred times: without a process.
is_daemon() {
    local words=()
    { mapfile -d '' words <"/proc/$1/cmdline"; } 2>/dev/null
    [[ ${words[*]} == *unwrite* ]]
}
show_logs() {
    local log
    for log in "$scratch"/*/.unwrite/daemon.log; do
        [[ -f $log ]] || continue
        printf -- '--- %s\n' "$log" >&2
        tail -n 40 "$log" >&2
    done
}
child=
trap '[[ -z $child ]] || kill "$child"; clean_up; rm -rf --one-file-system "$scratch"; exit 143' TERM INT

export here program scratch file story
limit=${UNWRITE_STORY_SECONDS:-240}
timeout --foreground "$limit" setsid --wait bash -c '
    echo $$ >"$scratch/meta/session"
    source "$here/lib.sh"
    source "$here/$file"
    "$story"
    echo "ok: $story"' &
child=$!
wait "$child"
status=$?
[[ $status != 124 ]] || echo "FAILED: not done after $limit s" >&2
clean_up
[[ $status == 0 || $status == 77 ]] || show_logs
grep -hsE ' (warning|error): ' "$scratch"/*/.unwrite/daemon.log | sed 's/^/daemon: /'
if [[ -n ${UNWRITE_KEEP:-} && $status != 0 ]]; then
    echo "kept: $scratch" >&2
else
    rm -rf --one-file-system "$scratch"
fi
exit "$status"
