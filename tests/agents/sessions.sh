# $agent over several sessions: what the user answered once holds in the next one, in a run and outside. And two agents at
# once, and an agent that commits.
# shellcheck shell=bash
source "$(dirname "${BASH_SOURCE[0]}")/whole_task.sh"

# begin_at_home [untrusted]: a user with a repository below the home directory, not mounted yet.
begin_at_home() {
    rmdir "$W"
    W=$HOME/project
    repository
    agents_at_work
    home_of "$agent" "${1:-trusted}"
    cd "$W"
}
failed() {
    tail -n 30 "$scratch/answer" "$scratch/answer.errors" >&2
    fail "$1 ended with an error"
}
question_of_trust() {
    case $1 in
        claude) echo "Yes, I trust this folder" ;;
        codex) echo "Trust this folder?" ;;
        gemini) echo "Do you trust the files in this folder?" ;;
    esac
}
# session_in_a_terminal [RUN...]: opens it, which asks for no trust, has one prompt answered and leaves.
session_in_a_terminal() {
    local RUN=$*
    opens "$agent"
    [[ $agent == opencode ]] || lacks "$(question_of_trust "$agent")"
    says "Are you there?" "Here I am."
    leaves "$agent"
    close_screen
}

works_with_trust_that_was_given_in_a_run() {
    [[ $agent != opencode ]] || skip "OpenCode asks for no trust"
    begin_at_home untrusted
    plays "Are you there" say "Here I am."
    local run="unwrite run --on-exit keep --"
    RUN=$run starts "$agent"
    sees "$(question_of_trust "$agent")"
    sleep 1
    keys Enter
    is_ready "$agent"
    leaves "$agent"
    close_screen
    say "a second session in a run, and one without"
    # shellcheck disable=SC2086
    session_in_a_terminal $run
    cd / && unwrite unmount "$W" && cd "$W"
    session_in_a_terminal
}

# other_than AGENT: the next one of the four.
other_than() {
    local all=(claude codex gemini opencode claude) i
    for i in 0 1 2 3; do [[ ${all[i]} != "$1" ]] || echo "${all[i + 1]}"; done
}
# until_there FILE: for the shell of an agent.
until_there() { echo "timeout 60 sh -c 'until test -e $1; do sleep 0.1; done'"; }

works_next_to_another_agent_in_one_file() {
    begin_at_home
    local other
    other=$(other_than "$agent")
    home_of "$other"
    seq 30 | sed 's/^/line /' >shared.txt
    cd /
    u mount "$W"
    cd "$W"
    cp shared.txt "$scratch/shared.txt"
    plays "the top" read "$W/shared.txt" edit "$W/shared.txt" "line 2
" "top
" shell "touch top.done; $(until_there bottom.done)" say "The top is done."
    plays "the bottom" read "$W/shared.txt" edit "$W/shared.txt" "line 29
" "bottom
" shell "$(until_there top.done); echo more >>shared.txt; touch bottom.done" say "The bottom is done."
    (RUN="unwrite run --session top --on-exit keep --" asks "$agent" "Change the top.") &
    local first=$!
    (answers=$scratch/bottom RUN="unwrite run --session bottom --on-exit keep --" asks "$other" "Change the bottom.") ||
        { cat "$scratch"/bottom*; fail "$other ended with an error"; }
    wait "$first" || failed "$agent"
    grep -q "^top$" shared.txt && grep -q "^bottom$" shared.txt && grep -q "^more$" shared.txt || fail "it holds $(cat shared.txt)"
    say "each is taken back for itself"
    u undo top
    ! grep -q "^top$" shared.txt || fail "the top is still there"
    grep -q "^bottom$" shared.txt && grep -q "^line 2$" shared.txt && grep -q "^more$" shared.txt || fail "it holds $(cat shared.txt)"
    absent top.done
    present bottom.done
    u undo bottom
    cmp shared.txt "$scratch/shared.txt"
    absent bottom.done
    out_lacks "kept"
    cd / && u unmount "$W"
    check_state
}

# The user stands in a subdirectory; the agent commits there.
works_with_git_in_a_subdirectory() {
    begin_at_home
    commits_in_src
}
# The repository lies elsewhere: $W is a linked work tree of it.
works_with_git_in_a_linked_worktree() {
    begin_at_home
    cd "$HOME"
    mv "$W" "$HOME/main"
    git -C "$HOME/main" worktree add -q -b side "$W"
    cd "$W"
    commits_in_src
    [[ $(git -C "$HOME/main" log --format=%s main) == first ]] || fail "the other worktree has other commits"
    git -C "$HOME/main" fsck --strict >"$scratch/fsck" 2>&1 || fail "$(cat "$scratch/fsck")"
}
commits_in_src() {
    local first
    first=$(git rev-parse HEAD)
    plays "commit it" read "$W/src/main.c" edit "$W/src/main.c" '    return 0;' '    return 42;' \
        shell "git add -A . && git commit -qm changed && git log --oneline | wc -l" say "It is committed."
    echo TOKEN=1 >src/.env
    cd src
    RUN="unwrite run --on-exit keep --" asks "$agent" "Change it and commit it." || failed "$agent"
    cd "$W"
    [[ $(git log --format=%s) == $'changed\nfirst' ]] || fail "the commits are $(git log --format=%s)"
    git diff --quiet HEAD || fail "something is not committed: $(git status --short)"
    [[ $(git show --format= --name-only) == src/main.c ]] || fail "the commit has $(git show --format= --name-only)"
    u undo
    [[ $(git rev-parse HEAD) == "$first" ]] || fail "the commit is still there"
    git diff --quiet HEAD || fail "the tree is not as before: $(git status --short)"
    [[ $(git status --short) == "?? src/.env" ]] || fail "something is left: $(git status --short)"
    git fsck --strict >"$scratch/fsck" 2>&1 || fail "$(cat "$scratch/fsck")"
    cd / && u unmount "$W"
    check_state
}
