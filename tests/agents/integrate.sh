# $agent after `unwrite integrate --user`: started by its own name, and yet everything can be taken back.
# shellcheck shell=bash
source "$(dirname "${BASH_SOURCE[0]}")/whole_task.sh"

# begin_integrated: a user with a repository below the home directory; nothing is mounted.
begin_integrated() {
    rmdir "$W"
    W=$HOME/project
    repository
    agents_at_work
    home_of "$agent"
    local client=$agent
    case $agent in claude) client=claude-code ;; gemini) client=gemini-cli ;; esac
    unwrite integrate "$client" --user >"$scratch/integrated" 2>&1 || fail "$(cat "$scratch/integrated")"
    the_task
    cd "$W"
}
# trusted: the one step that `integrate` tells a user of Codex, which runs no hook before.
trusted() {
    [[ $agent == codex ]] || return 0
    grep -q "Trust all and continue" "$scratch/integrated" || fail "$(cat "$scratch/integrated")"
    starts codex
    trusts_at_the_start
    leaves codex
    close_screen
    codex_has_ended
}
trusts_at_the_start() {
    sees "Hooks need review"
    wait_for "the choice to trust" chooses_trust
    keys Enter
    is_ready codex
}
# Keys that come before it has drawn the question are lost.
chooses_trust() {
    keys -l 2
    sleep 0.5
    screen_has "› 2. Trust all and continue"
}
# codex_has_ended: outside a run its daemon goes on, and what works for the agent with it.
codex_has_ended() { codex app-server daemon stop >"$scratch/stopped" 2>&1 || fail "$(cat "$scratch/stopped")"; }
failed() {
    tail -n 30 "$scratch/answer" "$scratch/answer.errors" >&2
    fail "$agent ended with an error"
}
# is_over: the session has gone, and the mount with it. Afterwards this shell is in the directory itself.
is_over() {
    cd /
    wait_for "the end of the mount" not_mounted
    # The daemon may still be closing the history.
    wait_for "the end of the daemon" is_free
    cd "$W"
}
is_free() { "$program" -C "$W" check >/dev/null 2>&1; }
not_mounted() { ! is_mounted "$W"; }
is_before() {
    grep -q "return 0" "$W/src/main.c" || fail "it was not taken back: $(cat "$W/src/main.c")"
    present "$W/old.txt"
    absent "$W/new.txt"
}

works_after_integrate() {
    begin_integrated
    trusted
    asks "$agent" "Please do the task." || failed
    task_is_done
    is_over
    say "the prompt is a step of the agent, which nothing was typed for"
    u --json log
    # `opencode run` puts words with a blank between quotes.
    json 'any(e["node"]["kind"] == "run" and e["node"]["text"].strip("\"") == "Please do the task." for e in j["entries"])'
    json 'any(o["agent"] for o in j["origins"])'
    u undo
    is_before
    u redo
    task_is_done
    u undo
    say "a second session, which is told of nothing; and again"
    forget
    asks "$agent" "Please do the task." || failed
    task_is_done
    is_over
    u undo
    is_before
    check_state
}

works_in_a_terminal_after_integrate() {
    begin_integrated
    echo TOKEN=1 >.env
    plays "look around" shell "cat .env" say "I looked."
    plays "what now" read "$W/src/main.c" say "I see."
    plays "once more" edit "$W/src/main.c" '    return 0;' '    return 42;' \
        shell "rm old.txt && echo made >new.txt" say "It is done anew."
    plays "took back work with unwrite" say "It is as before."
    if [[ $agent == codex ]]; then
        starts codex
        trusts_at_the_start
    else
        opens "$agent"
    fi
    # Codex and OpenCode call no hook before the first prompt.
    case $agent in claude | gemini) wait_for "the mount" is_mounted "$W" ;; esac
    says "Please do the task." "The task is done."
    is_mounted "$W" || fail "nothing is mounted"
    task_is_done
    cd /
    cd "$W"
    say "the user takes it back, and changes something"
    u undo
    is_before
    echo "Read me again." >README.md
    forget
    says "Now please look around." "I looked."
    heard "The user took back step n"
    heard "Do not redo it. Read these files again."
    heard "Changed by others since your last turn: README.md"
    heard_not "TOKEN=1"
    forget
    says "And what now?" "I see."
    heard "unwrite refused this in your last turn"
    heard ".env"
    say "the agent's own command takes back the agent's part"
    says "Please do it once more." "It is done anew."
    task_is_done
    echo mine >mine.txt
    sleep 1
    case $agent in
        claude) says "/unwrite:undo" "It is as before." ;;
        gemini) says "/unwrite:undo" "It is as before." ;;
        opencode)
            # The first Enter takes the name from the list.
            keys -l "/unwrite-undo"
            sleep 1
            keys Enter
            sleep 1
            keys Enter
            sees "It is as before."
            ;;
        codex) u undo "$(session_of_agent)" ;;
    esac
    is_before
    equal mine.txt mine
    equal README.md "Read me again."
    leaves "$agent"
    close_screen
    [[ $agent != codex ]] || codex_has_ended
    is_over
    check_state
}
session_of_agent() { "$program" --json log | python3 -c 'import json, sys; print([o["session"] for o in json.load(sys.stdin)["origins"] if o["agent"]][-1])'; }
