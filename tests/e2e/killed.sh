# Parts of a run that are killed: no agent goes on without somebody who ends it and asks about its changes.
# shellcheck shell=bash

# begin_long OPTIONS: a run whose command, and what it started in other sessions, write their pid and go on.
begin_long() {
    cd "$W"
    cat >"$scratch/agent" <<'END'
setsid sh -c 'trap "" TERM HUP; echo $$ >grandchild; (setsid sleep 300 & echo $! >orphan); while :; do sleep 0.2; done' &
trap "" TERM HUP
echo begun >begun
while :; do sleep 0.2; echo more >>work; done
END
    cp "$scratch/agent" "$W/agent.sh"
    u mount "$W"
    cd /
    export STORY_AGENT=$scratch
    # shellcheck disable=SC2086
    "$program" -C "$W" run --on-exit keep "$@" -- bash agent.sh >"$scratch/run.log" 2>&1 </dev/null &
    run=$!
    for _ in $(seq 100); do [[ -s $W/orphan && -s $W/begun && -s $W/work ]] && break; sleep 0.1; done
    present "$W/work"
    guard=$(pgrep -P "$run")
}
# agents: the processes of it, by variables that only they have.
agents() {
    grep -lzs "^UNWRITE_SESSION=run-" /proc/[0-9]*/environ | xargs -r grep -lzs "^STORY_AGENT=$scratch$" || true
}
all_end() {
    for _ in $(seq 80); do [[ -z $(agents) ]] && return; sleep 0.1; done
    local left
    left=$(agents)
    # shellcheck disable=SC2001,SC2046
    kill -KILL $(sed 's/[^0-9]*//g' <<<"$left") || true
    fail "processes of the agent went on: $left"
}
after() {
    [[ $(agents | wc -l) -ge 3 ]] || fail "these are its only processes: $(agents)"
    kill -KILL "$1"
    all_end
    wait "$run" 2>/dev/null || true
    cp "$W/work" "$scratch/work"
    sleep 0.5
    cmp "$W/work" "$scratch/work"
    say "what it changed is a step as always"
    u -C "$W" undo
    absent "$W/work"
    u unmount "$W"
}

S167_a_run_that_is_killed_takes_its_agent_along() { begin_long && after "$run"; }
S167_a_run_without_walls_that_is_killed_takes_its_agent_along() { begin_long --no-confine && after "$run"; }
S167_a_guard_that_is_killed_takes_its_agent_along() { begin_long && after "$guard"; }
S167_a_guard_without_walls_that_is_killed_takes_its_agent_along() { begin_long --no-confine && after "$guard"; }
