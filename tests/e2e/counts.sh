# What is counted, where a task begins, and which part of git it does not hold.
# shellcheck shell=bash

S61_S64_D19_every_door_counts_the_same_files() {
    git -C "$W" init -q
    echo target/ >"$W/.gitignore"
    mkdir -p "$W/old/deep" "$W/lib"
    printf '1\n2\n' | tee "$W/old/deep/1" "$W/old/2" "$W/lib/a" "$W/lib/b" >"$W/lib/c"
    git -C "$W" add -A
    git -C "$W" commit -qm one
    (cd "$W" && find . -type f -not -path './.git/*' | sort) >"$scratch/before"
    begin
    counted() {
        u status --line
        equal "$scratch/out" "[checkpoint: $1 files changed]"
        u --json status
        json "j['files_changed'] == $1 and sum(c['files'] for c in j['changes']) == $1"
        json "j['lines_not_counted'] == $2"
        u status
        out_has " across $1 files (lines of $2 files not counted)"
        grep -o "+.* across .*" "$scratch/out" >"$scratch/lines"
        u diff --stat
        out_has "$(<"$scratch/lines")"
    }
    u run --on-exit keep -- sh -c 'mkdir -p a/b/c target/x web/node_modules/y; echo 1 >a/b/c/1; seq 3 >web/app.js
        for i in 1 2 3 4 5 6 7 8 9; do seq 100 | tee target/x/$i >web/node_modules/y/$i; done; rm -r old'
    err_has "Created 20 files, deleted 2 (18 in .git or ignored by git)"
    err_has "+4 -4 across 22 files (lines of 18 files not counted)"
    counted 22 18
    [[ $(find . -type f -not -path './.git/*' | sort | comm -3 --output-delimiter= - "$scratch/before" | wc -l) == 22 ]]
    out_has "node_modules/ "
    out_lacks node_modules/y
    say "what git writes while it looks is no change"
    git update-index --index-version 4
    touch .git/HEAD.lock
    counted 22 18
    rm .git/HEAD.lock
    say "a renamed directory is its files, and one that is made again is compared with what it was"
    mv lib moved
    counted 25 18
    rm -r moved
    git checkout -q -- lib
    counted 22 18
    u log --changes
    out_lacks .git/index
    end
}

S52_D24_a_task_begins_here_and_keeps_what_was_before() {
    echo one >"$W/f"
    begin
    echo two >f
    u checkpoint old
    echo three >f
    u task 'fix it'
    out_has 'Task fix it begins here'
    remember begun
    u status
    out_has "No changes"
    out_has 'Task fix it began at n'
    expect 3 undo
    equal f three
    echo four >f
    touch more
    u --json status
    json 'j["task"]["name"] == "fix it" and j["task"]["since"] == j["root"] and j["files_changed"] == 2'
    say "an agent may not begin one"
    expect 4 run --on-exit keep -- "$program" task mine
    u status
    out_has 'Task fix it began at n'
    say "discard goes back to where it began, and not further"
    u discard --yes
    same begun
    u redo
    equal f four
    u log --all
    out_has old
    say "what was before is still there, and undo says how to reach it"
    expect 2 undo n2
    err_has "it belongs to an earlier task"
    err_has "unwrite rollback n2"
    u rollback old
    equal f two
    end
}

S76_a_repository_that_lies_outside_is_told() {
    git init -q "$scratch/main"
    git -C "$scratch/main" commit -q --allow-empty -m one
    git -C "$scratch/main" worktree add -q "$W/tree"
    W=$W/tree
    cd /
    u mount "$W"
    err_has "The git repository lies outside the workspace, in $scratch/main/.git/worktrees/tree: what a confined run commits is taken back"
    u -C "$W" status
    out_has "other commits, branches and the index are not."
    u -C "$W" --json status
    json "j['git_outside'] == '$scratch/main/.git/worktrees/tree' and j['git_outside_recorded_in_runs']"
    u unmount "$W"
    say "a directory below the top of a work tree"
    mkdir "$scratch/main/below"
    u mount "$scratch/main/below"
    err_has "in $scratch/main/.git: commits"
    u unmount "$scratch/main/below"
    say "and nothing of it where the repository is inside"
    u mount "$scratch/main"
    [[ ! -s $scratch/err ]]
    u -C "$scratch/main" --json status
    json 'j["git_outside"] is None'
    u unmount "$scratch/main"
}

S76_a_submodule_is_told() {
    git init -q "$scratch/part"
    git -C "$scratch/part" commit -q --allow-empty -m one
    git init -q "$scratch/main"
    git -C "$scratch/main" -c protocol.file.allow=always submodule --quiet add "$scratch/part" part
    git -C "$scratch/main" commit -q -m part
    local place=$scratch/main/.git/modules/part
    u mount "$scratch/main/part"
    err_has "The git repository lies outside the workspace, in $place: what a confined run commits is taken back"
    cd "$scratch/main/part"
    echo one >f
    git add f
    git commit -q -m two
    u status
    out_has "The git repository lies outside the workspace, in $place:"
    u --json status
    json "j['git_outside'] == '$place'"
    say "that is true: the file goes, the commit stays"
    u discard --yes
    absent f
    [[ $(git log -1 --format=%s) == two ]] || fail "$(git log)"
    cd /
    u unmount "$scratch/main/part"
}
