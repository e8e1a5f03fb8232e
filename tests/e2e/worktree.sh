# A linked work tree and a submodule: the repository lies elsewhere, and is a part of the workspace for what runs in a run.
# shellcheck shell=bash

# linked: a repository at $scratch/main, with packed and loose objects, and $W is a work tree of it on the branch side.
linked() {
    needs git
    git init -qb main "$scratch/main"
    (
        cd "$scratch/main"
        mkdir src
        seq 100 >src/a
        echo read >README
        git add -A
        git commit -qm first
        git tag v1
        git gc -q
        echo loose >loose
        git add loose
        git commit -qm second
    )
    rmdir "$W"
    git -C "$scratch/main" worktree add -q -b side "$W"
}

# repository: all that a user sees of git, but for when (a reflog has that, and is listed by what it says).
repository() {
    git -C "$W" for-each-ref --format='%(refname) %(objectname)'
    cat "$scratch/main/.git/worktrees/${W##*/}/HEAD"
    git -C "$W" stash list
    git -C "$W" reflog
    git -C "$W" --no-optional-locks status --porcelain
    git -C "$W" ls-files --stage
}
# stands NAME: it is as it was when `repository >NAME` was written, and nothing is broken.
stands() {
    repository | diff -u "$scratch/$1" - || fail "the repository is not as at $1"
    git -C "$scratch/main" fsck --full --strict 2>&1 | grep -v '^dangling' && fail "git finds it damaged"
    printf '  = %s\n' "$1"
}

# contents DIR: its files with their bytes and modes.
contents() { (cd "$1" && find . -type f -exec sha256sum {} + -exec stat -c '%a %n' {} + | sort); }

S76_D17_git_in_a_linked_worktree_goes_back_with_its_files() {
    linked
    begin
    repository >"$scratch/before"
    remember before
    say "an agent commits, branches, tags, stashes, merges and collects garbage"
    u run --on-exit keep -- sh -exc '
        echo more >>src/a; echo new >new; git add -A; git commit -qm "its work"
        git branch its; git tag its-tag; git switch -qc other; echo other >other; git add other; git commit -qm other
        git switch -q side; git merge -q --no-edit other; echo x >>README; git stash -q; git branch -d other
        git repack -qad; echo last >>src/a; git add src/a'
    [[ $(git log -1 --format=%s) == other ]] || fail "$(git log --oneline)"
    repository >"$scratch/after"
    remember after
    say "the user works in the repository's own tree meanwhile"
    echo users >>"$scratch/main/README"
    git -C "$scratch/main" commit -qam "the user's"
    git -C "$scratch/main" branch users
    repository >"$scratch/after"
    u status
    out_has "git: on side ("
    u diff --stat
    u undo
    sed '/refs.heads.\(users\|main\) /d' "$scratch/before" >"$scratch/want"
    repository | sed '/refs.heads.\(users\|main\) /d' | diff -u "$scratch/want" - || fail "undo: the repository"
    [[ $(git -C "$scratch/main" log -1 --format=%s users) == "the user's" ]] || fail "the user's commit is gone"
    same before
    repository >"$scratch/undone"
    stands undone
    u redo
    stands after
    same after
    expect 0 discard --yes
    stands undone
    same before
    u redo
    stands after
    end
    say "nothing is mounted: it goes back all the same"
    u -C "$W" discard --yes
    stands undone
    same before
    check_state
}

S76_D17_commits_beside_a_run_are_the_users() {
    linked
    begin
    repository >"$scratch/before"
    u run --on-exit keep -- sh -exc 'echo agent >agent; git add agent; git commit -qm agent'
    say "a commit of the user on the same branch, beside the mount, does not go with the run"
    echo user >user
    git add user
    git commit -qm user
    u undo
    absent user
    [[ $(git log -1 --format=%s side) == user ]] || fail "undo took the user's commit"
    expect 5 undo
    err_has .git/refs/heads/side
    [[ $(git log -1 --format=%s side) == user ]] || fail "undo took the user's commit"
    present agent
    git -C "$scratch/main" fsck --full 2>&1 | grep -v '^dangling' && fail "git finds it damaged"
    end
}

S60_S76_a_run_that_collects_leaves_the_branches_of_others() {
    linked
    begin
    say "two runs collect garbage, and the user commits between them"
    u run --on-exit keep -- sh -exc 'echo one >one; git add one; git commit -qm one; git gc -q'
    echo users >>"$scratch/main/README"
    git -C "$scratch/main" commit -qam "the user's"
    u run --on-exit keep -- sh -exc 'echo two >two; git add two; git commit -qm two; git gc -q'
    u discard --yes
    [[ $(git log -1 --format=%s) == second ]] || fail "$(git log --oneline)"
    [[ $(git -C "$scratch/main" log -1 --format=%s) == "the user's" ]] || fail "discard took the user's commit"
    [[ $(git -C "$scratch/main" reflog main | wc -l) == 3 ]] || fail "$(git -C "$scratch/main" reflog main)"
    [[ -z $(git -C "$scratch/main" status --porcelain) ]] || fail "$(git -C "$scratch/main" status)"
    git -C "$scratch/main" fsck --full 2>&1 | grep -v '^dangling' && fail "git finds it damaged"
    end
}

S76_what_the_user_collects_beside_a_run() {
    linked
    begin
    say "a run leaves objects in a pack, and the user collects garbage in the repository meanwhile"
    u run --on-exit keep -- sh -exc 'for i in 1 2 3 4 5 6 7 8; do echo $i >f$i; git add -A; git commit -qm $i; done; git repack -qad'
    repository >"$scratch/after"
    echo users >>"$scratch/main/README"
    git -C "$scratch/main" commit -qam "the user's"
    git -C "$scratch/main" gc -q --prune=now
    say "it has written all reflogs anew: that is said first"
    expect 5 undo
    err_has .git/logs/refs/heads/side
    ! grep -q 'objects/..$' "$scratch/err" || fail "directories of objects are named"
    u rollback root --outside
    [[ $(git log -1 --format=%s) == second ]] || fail "$(git log --oneline)"
    git -C "$scratch/main" fsck --full 2>&1 | grep -v '^dangling' && fail "git finds it damaged"
    absent f1
    u redo
    [[ $(git log -1 --format=%s) == 8 && -z $(git status --porcelain) ]] || fail "$(git status)"
    git -C "$scratch/main" fsck --full 2>&1 | grep -v '^dangling' && fail "git finds it damaged"
    end
    check_state
}

S60_S76_two_worktrees_of_one_repository() {
    linked
    local one=$W two=$scratch/two
    git -C "$scratch/main" worktree add -q -b other "$two"
    W=$two begin
    W=$one begin
    git -C "$scratch/main" for-each-ref >"$scratch/refs"
    say "the same file in both: the same object is needed by both branches"
    u run --on-exit keep -- sh -exc 'echo same >same; echo one >one; git add -A; git commit -qm one'
    cd "$two"
    u run --on-exit keep -- sh -exc 'echo same >same; echo two >two; git add -A; git commit -qm two'
    cd "$one"
    u undo
    absent same
    [[ $(git log -1 --format=%s) == second ]] || fail "$(git log --oneline)"
    [[ $(git -C "$two" log -1 --format=%s) == two ]] || fail "$(git -C "$two" log --oneline)"
    git -C "$two" checkout -q HEAD -- .
    equal "$two/same" same
    git -C "$scratch/main" fsck --full 2>&1 | grep -v '^dangling' && fail "git finds it damaged"
    cd "$two"
    u undo
    git -C "$scratch/main" for-each-ref | diff "$scratch/refs" - || fail "the refs"
    u redo
    [[ $(git log -1 --format=%s) == two ]] || fail "$(git log --oneline)"
    W=$one end
    W=$two end
    W=$one check_state
    W=$two check_state
}

S44_S76_an_agent_plants_nothing_in_the_repository_outside() {
    linked
    begin
    local common=$scratch/main/.git
    expect 0 run --on-exit keep -- sh -xc "echo '#!/bin/sh' >'$common/hooks/post-checkout'; git config core.fsmonitor /tmp/x
        git config user.nick name; mv '$common/hooks' '$common/gone'; rm -rf '$common/objects/info'; ln -s x '$common/worktrees/link'
        cp '$common/config' '$common/config.worktree'; mkdir '$common/objects/zz'; echo x >'$common/objects/zz/y'; true"
    absent "$common/hooks/post-checkout"
    [[ $(git config core.fsmonitor) == "" ]] || fail "fsmonitor is set"
    u undo
    absent "$common/objects/zz"
    present "$common/objects/info"
    present "$common/hooks"
    [[ $(git config user.nick) == "" ]] || fail "the configuration stays changed"
    say "nor does a tool that comes through the root"
    u policy explain .unwrite-git/hooks/post-checkout
    out_has "**/.git/hooks/*"
    say "what it removes of the repository comes back"
    mkdir -p "$XDG_CONFIG_HOME/unwrite"
    printf '[policy.breaker]\ndeleted_share = "0%%"\n' >"$XDG_CONFIG_HOME/unwrite/unwrite.toml"
    u policy reload
    contents "$common" >"$scratch/contents"
    expect 0 run --on-exit keep -- sh -c "rm -rf '$common/objects' '$common/refs' '$common/logs'; true"
    absent "$common/refs"
    [[ -z $(find "$common/objects" -type f) ]] || fail "objects are left"
    u undo
    contents "$common" | diff "$scratch/contents" - || fail "the repository is another one"
    git -C "$scratch/main" fsck --full
    say "a file .git that leads elsewhere chooses no directory"
    mkdir -p "$scratch/private/objects" "$scratch/private/refs"
    echo secret >"$scratch/private/HEAD"
    u unmount "$W" && cd /
    cp "$W/.git" "$scratch/dot-git"
    echo "gitdir: $scratch/private" >"$W/.git"
    begin
    say "the one that was noted stays"
    equal .unwrite-git/HEAD "ref: refs/heads/main"
    expect 0 run --on-exit keep -- sh -c "echo x >'$scratch/private/x'; true"
    absent "$scratch/private/x"
    cp "$scratch/dot-git" .git
    end
}

S68_S76_a_killed_daemon_leaves_the_repository_whole() {
    linked
    begin
    repository >"$scratch/before"
    remember before
    local i
    for i in 1 2 3 4 5; do
        "$program" run --on-exit keep -- sh -c 'i=0; while echo $i >f$i && git add -A && git commit -qm $i; do i=$((i+1)); done' \
            >"$scratch/log" 2>&1 </dev/null &
        sleep "0.$((RANDOM % 8 + 2))"
        crash
        wait $! || true
        git -C "$scratch/main" fsck --full 2>&1 | grep -v -e '^dangling' -e '^notice' && fail "git finds it damaged"
        begin
        rm -f "$scratch/main/.git/worktrees/w/index.lock" "$scratch/main/.git/worktrees/w/HEAD.lock" \
            "$scratch/main/.git/refs/heads/side.lock"
    done
    u discard --yes
    stands before
    same before
    end
    check_state
}

S60_S68_S76_a_commit_of_the_user_before_a_kill_stays() {
    linked
    begin
    say "a run packs the branches, the user commits, and then the daemon is killed"
    u run --on-exit keep -- sh -exc 'echo agent >agent; git add agent; git commit -qm agent; git pack-refs --all'
    git -C "$scratch/main" commit -q --allow-empty -m "the user's"
    crash
    begin
    expect 5 discard --yes
    err_has .git/refs/heads/main
    [[ $(git -C "$scratch/main" log -1 --format=%s main) == "the user's" ]] || fail "discard took the user's commit"
    expect 5 undo
    [[ $(git -C "$scratch/main" log -1 --format=%s main) == "the user's" ]] || fail "undo took the user's commit"
    say "what is the run's own is still known as that"
    git -C "$scratch/main" reset -q --soft HEAD~1
    git -C "$scratch/main" pack-refs --all
    u run --on-exit keep -- sh -exc 'echo more >more; git add more; git commit -qm more'
    crash
    begin
    u undo
    absent more
    [[ $(git log -1 --format=%s) == agent ]] || fail "$(git log --oneline)"
    end
}

S76_D17_git_in_a_submodule_goes_back_with_its_files() {
    linked
    git init -qb main "$scratch/outer"
    git -C "$scratch/outer" -c protocol.file.allow=always submodule --quiet add "$scratch/main" sub
    git -C "$scratch/outer" commit -qm "with it"
    W=$scratch/outer/sub
    begin
    local before
    before=$(git rev-parse HEAD)
    u run --on-exit keep -- sh -exc 'echo agent >agent; git add agent; git commit -qm agent'
    [[ $(git log -1 --format=%s) == agent ]] || fail "$(git log --oneline)"
    u undo
    [[ $(git rev-parse HEAD) == "$before" && -z $(git status --porcelain) ]] || fail "$(git status)"
    u redo
    [[ $(git log -1 --format=%s) == agent ]] || fail "$(git log --oneline)"
    u discard --yes
    [[ $(git rev-parse HEAD) == "$before" && -z $(git status --porcelain) ]] || fail "$(git status)"
    end
    check_state
}
