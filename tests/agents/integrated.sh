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
    "$program" --json log | python3 -c 'import json, sys
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
