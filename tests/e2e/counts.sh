# What is counted, and where a task begins.
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
