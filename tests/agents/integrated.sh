# $agent after `unwrite integrate --user`, next to another agent, with commits, and when it does not end by itself.
# shellcheck shell=bash
source "$(dirname "${BASH_SOURCE[0]}")/ends.sh"
source "$(dirname "${BASH_SOURCE[0]}")/integrate.sh"

# integrated AGENT: likewise.
integrated() {
    home_of "$1"
    local client=$1
    case $1 in claude) client=claude-code ;; gemini) client=gemini-cli ;; esac
    unwrite integrate "$client" --user >"$scratch/integrated" 2>&1 || fail "$(cat "$scratch/integrated")"
    agent=$1 trusted
}
# session_named AGENT: the newest one of this agent.
session_named() {
    "$program" -C "$W" --json log | python3 -c 'import json, sys
print([o["session"] for o in json.load(sys.stdin)["origins"] if o["agent"] and o["session"].startswith(sys.argv[1])][-1])' "$1-"
}

works_next_to_another_agent_after_integrate() {
    begin_integrated
    trusted
    local other
    other=$(other_than "$agent")
    integrated "$other"
    seq 30 | sed 's/^/line /' >shared.txt
    cp shared.txt "$scratch/shared.txt"
    plays "the top" read "$W/shared.txt" edit "$W/shared.txt" "line 2
" "top
" shell "touch top.done; $(until_there bottom.done)" say "The top is done."
    plays "the bottom" read "$W/shared.txt" edit "$W/shared.txt" "line 29
" "bottom
" shell "$(until_there top.done); echo more >>shared.txt; touch bottom.done" say "The bottom is done."
    asks "$agent" "Change the top." &
    local first=$!
    (answers=$scratch/bottom asks "$other" "Change the bottom.") ||
        { cat "$scratch"/bottom*; fail "$other ended with an error"; }
    wait "$first" || failed
    grep -q "^top$" shared.txt && grep -q "^bottom$" shared.txt && grep -q "^more$" shared.txt || fail "it holds $(cat shared.txt)"
    is_over
    say "each is taken back for itself"
    u undo "$(session_named "$agent")"
    ! grep -q "^top$" shared.txt || fail "the top is still there"
    grep -q "^bottom$" shared.txt && grep -q "^line 2$" shared.txt && grep -q "^more$" shared.txt || fail "it holds $(cat shared.txt)"
    absent top.done
    present bottom.done
    u undo "$(session_named "$other")"
    cmp shared.txt "$scratch/shared.txt"
    absent bottom.done
    out_lacks "kept"
    check_state
}

# The user stands in a subdirectory; the agent commits there. A secret is in .gitignore: for an agent that is not in a run,
# `git add` fails at one that is not.
works_with_git_after_integrate() {
    begin_integrated
    trusted
    # Codex's own sandbox lets nothing write in .git.
    [[ $agent != codex ]] || sed -i 's/workspace-write/danger-full-access/' "$HOME/.codex/config.toml"
    local first
    echo .env >.gitignore
    echo TOKEN=1 >src/.env
    git add .gitignore
    git commit -qm ignored
    first=$(git rev-parse HEAD)
    plays "commit it" read "$W/src/main.c" edit "$W/src/main.c" '    return 0;' '    return 42;' \
        shell "git add -A . && git commit -qm changed && git log --oneline | wc -l" say "It is committed."
    cd src
    asks "$agent" "Change it and commit it." || failed
    is_over
    [[ $(git log --format=%s) == $'changed\nignored\nfirst' ]] || fail "the commits are $(git log --format=%s)"
    git diff --quiet HEAD || fail "something is not committed: $(git status --short)"
    [[ $(git show --format= --name-only) == src/main.c ]] || fail "the commit has $(git show --format= --name-only)"
    u undo
    [[ $(git rev-parse HEAD) == "$first" ]] || fail "the commit is still there"
    [[ -z $(git status --short) ]] || fail "something is left: $(git status --short)"
    git fsck --strict >"$scratch/fsck" 2>&1 || fail "$(cat "$scratch/fsck")"
    check_state
}

# by_name: the words that start $agent. With Codex's daemon the agent would be that, and not what is on the terminal.
by_name() {
    case $agent in
        codex) echo "codex --disable daemon_auto_start" ;;
        gemini) echo "gemini --yolo" ;;
        *) echo "$agent" ;;
    esac
}
begin_long_by_name() {
    begin_integrated
    trusted
    plays "work long" read "$W/src/main.c" edit "$W/src/main.c" '    return 0;' '    return 7;' \
        shell "echo begun >begun.txt; sleep 100; echo done >done.txt" say "It is done."
    plays "Are you there" say "Here I am."
    shell_of_the_user
}
# at_work_by_name: in the middle of a command. $the_agent is the process that was started.
at_work_by_name() {
    types "$(by_name)"
    is_ready "$agent"
    sleep 0.5
    keys -l "Please work long."
    sleep 1
    keys Enter
    wait_for "the agent's work" test -e "$W/begun.txt"
    the_agent=$(in_the_shell)
    # What is started as Codex or Gemini waits for another program, the agent itself.
    case $agent in codex | gemini) the_agent=$(pgrep -P "$the_agent" | head -n 1) ;; esac
}
# in_the_shell: the process that the user's shell waits for.
in_the_shell() {
    local shell
    shell=$(TMUX_TMPDIR=/tmp tmux -L "$tmux_name" display-message -p -t it '#{pane_pid}')
    pgrep -P "$(pgrep -P "$shell")" || true
}
shell_waits_for_nothing() { [[ -z $(in_the_shell) ]]; }
agent_is_gone() { [[ ! -e /proc/$the_agent || $(sed 's/.*) //' "/proc/$the_agent/stat" 2>/dev/null) == Z* ]]; }
# left_by_the_agent: without a sandbox the command that it had started may go on. It counts as the user's then.
left_by_the_agent() {
    local file
    for file in $(grep -lzs "^HOME=$HOME$" /proc/[0-9]*/environ || true); do
        file=${file%/environ}
        [[ $(cat "$file/comm" 2>/dev/null) != sleep || $(readlink "$file/cwd") != "$W" ]] || echo "${file#/proc/}"
    done
}
end_what_is_left() {
    local left parent
    for left in $(left_by_the_agent); do
        parent=$(ps -o ppid= -p "$left")
        say "the command of the agent still goes on"
        kill -KILL $parent "$left" 2>/dev/null || true
    done
}
# is_taken_back: what Codex's own sandbox puts in order after its end is a step of the user, and newer.
is_taken_back() {
    if [[ $agent != codex ]]; then
        taken_back
        return
    fi
    equal "$W/begun.txt" begun
    u -C "$W" undo "$(session_named codex)"
    absent "$W/begun.txt"
    grep -q "return 0" "$W/src/main.c" || fail "it was not undone"
}
# its_work_is_a_step: and it is taken back.
its_work_is_a_step() {
    wait_for "the end of the agent" agent_is_gone
    shell_is_back
    absent "$W/done.txt"
    u -C "$W" log
    out_has "Please work long."
    is_taken_back
    end_what_is_left
    absent "$W/begun.txt"
}
# leaves_the_shell: the end of the agent is that of the mount.
leaves_the_shell() {
    leaves "$agent" "out>"
    wait_for "the end of the agent" shell_waits_for_nothing
    close_screen
    [[ -z ${mounted_by_hand:-} ]] || { cd / && u unmount "$W"; }
    is_over
    check_state
}
# ended_by_name: it starts again, asks nothing, and its end is the mount's.
ended_by_name() {
    types "$(by_name)"
    is_ready "$agent"
    [[ $agent == opencode ]] || lacks "$(question_of_trust "$agent")"
    says "Are you there?" "Here I am."
    is_mounted "$W" || fail "nothing is mounted"
    leaves_the_shell
}

works_again_after_the_integrated_agent_was_ended() {
    begin_long_by_name
    local signal
    for signal in TERM KILL; do
        at_work_by_name
        say "the agent gets $signal"
        kill "-$signal" "$the_agent"
        its_work_is_a_step
    done
    ended_by_name
}
works_again_after_ctrl_c_after_integrate() {
    begin_long_by_name
    at_work_by_name
    say "Ctrl-C, until the agent has ended"
    wait_for "the end of the agent" interrupted_by_name
    its_work_is_a_step
    ended_by_name
}
interrupted_by_name() {
    agent_is_gone || { keys C-c; sleep 0.3; keys C-c; sleep 2; }
    agent_is_gone
}
works_again_after_the_daemon_of_an_integrated_agent_was_killed() {
    begin_long_by_name
    at_work_by_name
    u --json list
    daemon=$(json_value "[m['pid'] for m in j['mounts'] if m['mount_point'] == '$W'][0]")
    kill -KILL "$daemon"
    say "the files are out of reach; the user ends the agent"
    wait_for "the end of the agent" interrupted_by_name
    end_what_is_left
    shell_is_back
    say "the next session mounts again"
    local mounted_by_hand=
    if [[ $agent == opencode ]]; then
        say "  (OpenCode does not start where the files are out of reach, and so calls no hook)"
        u mount "$W"
        mounted_by_hand=1
    fi
    types "$(by_name)"
    is_ready "$agent"
    says "Are you there?" "Here I am."
    is_mounted "$W" || fail "nothing is mounted"
    u -C "$W" log
    out_has "Please work long."
    is_taken_back
    leaves_the_shell
}
