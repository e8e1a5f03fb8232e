# `unwrite git` while git or gh does not come back, with a person at a terminal; told by tests/e2e/story.sh.
# shellcheck shell=bash

# hanging_remote: a repository (no mount) with a commit of the agent for issue 7, and a remote whose hook hangs.
hanging_remote() {
    needs git
    git -C "$W" init -q -b main
    echo 0 >"$W/a"
    git -C "$W" add a
    git -C "$W" commit -q -m start
    echo 1 >"$W/a"
    git -C "$W" commit -q -a -m "gitclaw: work on issue #7"
    git -C "$W" init -q --bare "$scratch/origin.git"
    git -C "$W" remote add origin "$scratch/origin.git"
    git -C "$W" push -q -u origin main
    export PATH=$here/../git/stub:$PATH GH_STUB=$scratch/gh
    mkdir "$GH_STUB"
    hang="echo \$\$ >'$scratch/hung'; exec sleep 300"
    printf '#!/bin/sh\n%s\n' "$hang" >"$scratch/origin.git/hooks/pre-receive"
    chmod +x "$scratch/origin.git/hooks/pre-receive"
    cd "$W"
}
ended() { local state; state=$(ps -o stat= -p "$(<"$scratch/hung")") || return 0; [[ $state == Z* ]]; }
# soon COMMAND...: within ten seconds, where it would hang for minutes.
soon() {
    local begin=$SECONDS result=0
    "$@" || result=$?
    ((SECONDS - begin < 10)) || fail "it took $((SECONDS - begin)) s"
    return $result
}
at_terminal() { code=0; env --default-signal=INT python3 "$here/terminal.py" "$@" >"$scratch/out" || code=$?; }

S107_S116_ctrl_c_ends_a_git_undo_whose_push_hangs() {
    hanging_remote
    soon at_terminal $'Waiting for git push to origin ...=\x03' -- "$program" git undo --issue 7 --push
    [[ $code == 1 ]] || fail "it ended with $code"
    out_has "Interrupted while pushing; the remote may have the commits or not. The commits are in the local branch."
    out_has "hint: run the same command again; it pushes and undoes nothing twice"
    ended || fail "the hook lives on"
    equal a 0
    [[ -z $(git status --porcelain) ]] || fail "$(git status)"
    rm "$scratch/origin.git/hooks/pre-receive"
    head=$(git rev-parse HEAD)
    u git undo --issue 7 --push
    out_has "**Pushed the earlier undo of 1 commit(s):**"
    [[ $(git rev-parse HEAD) == "$head" && $(git rev-parse origin/main) == "$head" ]] || fail "$(git log --oneline --all)"
}

S107_a_signal_ends_a_git_undo_whose_gh_hangs() {
    hanging_remote
    echo "$hang" >"$GH_STUB/pr-list-open.do"
    head=$(git rev-parse HEAD)
    soon at_terminal $'Waiting for gh pr list ...=\x03' -- "$program" git undo --issue 7
    [[ $code == 1 ]] || fail "it ended with $code"
    out_has "gh pr list was interrupted; nothing was undone"
    ended || fail "gh lives on"
    say "a log, where nobody waits, is not told what is waited for"
    echo "$hang" >"$GH_STUB/comments.do"
    for command in undo feedback; do
        rm -f "$scratch/hung"
        "$program" git $command --issue 7 >"$scratch/out" 2>"$scratch/err" &
        until [[ -s $scratch/hung ]]; do sleep 0.05; done
        kill -TERM $!
        code=0
        soon wait $! || code=$?
        [[ $code == 1 ]] || fail "$command ended with $code"
        err_has "was interrupted"
        ! grep -q Waiting "$scratch/err" || fail "$(cat "$scratch/err")"
        ended || fail "gh lives on"
    done
    [[ $(git rev-parse HEAD) == "$head" && -z $(git status --porcelain) ]] || fail "something was done"
}
