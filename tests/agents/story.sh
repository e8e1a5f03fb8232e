#!/bin/bash
# story.sh FILE STORY AGENT: a story of this folder, told by tests/e2e/story.sh, with the agents of `versions` and without any
# network but the loopback. UNWRITE_AGENTS is the directory where npm has installed the agents, or shall install them.
set -uo pipefail
tests=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [[ -z ${UNWRITE_AGENTS:-} ]]; then
    echo "SKIPPED: UNWRITE_AGENTS names no directory for the agents, which npm fetches" >&2
    exit 77
fi
bash "$tests/install.sh" "$UNWRITE_AGENTS" || exit
UNWRITE_AGENTS=$(realpath "$UNWRITE_AGENTS")
export UNWRITE_AGENTS agent=$3 UNWRITE_STORY_SECONDS=${UNWRITE_STORY_SECONDS:-500}
# A home directory is not in a directory for temporary files, of which a confined run has its own.
export TMPDIR=${UNWRITE_BUILD_DIR:?}/scratch
mkdir -p "$TMPDIR" || exit 1
tell=(bash "$tests/../e2e/story.sh" "../agents/$1" "$2")
# Without the right to leave the network, a proxy that is not there keeps the agents to this machine.
if unshare -n true 2>/dev/null; then
    exec unshare -n bash -c 'ip link set lo up && exec "$@"' story "${tell[@]}"
fi
export HTTP_PROXY=http://127.0.0.1:9 HTTPS_PROXY=http://127.0.0.1:9 NO_PROXY=127.0.0.1,localhost
exec "${tell[@]}"
