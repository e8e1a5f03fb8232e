# The promises one by one, each in the smallest story that shows it.
# shellcheck shell=bash

S40_S41_S42_S53_writes_need_no_leave_and_are_live_at_once() {
    project
    # notes.txt is tracked, fresh will not be.
    git -C "$W" init -q -b main
    git -C "$W" add -A
    remember start
    begin
    say "nothing asks, and the raw bytes are there at once"
    echo new >fresh </dev/null
    echo four >>notes.txt
    equal fresh new
    [[ $(tail -n 1 notes.txt) == four ]]
    u status --line
    equal "$scratch/out" "[checkpoint: 2 files changed]"
    end
    equal "$W/fresh" new
    [[ $(tail -n 1 "$W/notes.txt") == four ]]
    u -C "$W" discard --yes
    same start
}

S49_S77_S78_S79_discard_restores_what_was() {
    project
    git -C "$W" init -q -b main
    git -C "$W" add -A
    git -C "$W" commit -q -m start
    remember start
    begin
    say "three tracked files modified, one deleted, new ones, a directory made, another removed"
    echo x >>notes.txt
    echo x >>src/main.c
    truncate -s 10 src/deep/numbers
    rm blob
    rmdir empty
    mkdir -p made/below
    echo y >made/below/file
    echo y >untracked
    rm -r src/deep
    u discard --yes
    same start
    [[ -z $(git --no-optional-locks status --porcelain) ]] || fail "git status is not clean"
    end
    same start
    check_state
}

S50_S55_commit_keeps_the_changes_and_drops_the_journal() {
    project
    begin
    head -c 3000000 /dev/zero >blob
    rm notes.txt
    u checkpoint half
    echo z >>src/main.c
    remember changed
    u commit --yes -m "as it should be"
    same changed
    expect 3 undo
    expect 3 redo
    expect 3 discard --yes
    expect 1 rollback half
    u status
    out_has "No changes"
    u --json log --all
    json 'len(j["entries"]) == 1'
    same changed
    end
    same changed
    [[ $(find "$W/.unwrite/attic" -type f | wc -l) == 0 ]] || fail "the attic is not empty after a commit"
    # With nothing to go back to, the link counts are the user's own again.
    [[ $(stat -c %h "$W/hard") == 2 ]] || fail "the hard link count is $(stat -c %h "$W/hard")"
    check_state
}

S51_kinds_of_changes() {
    project
    begin
    echo x >>notes.txt
    echo x >made
    rm blob
    mv hard harder
    chmod 600 nothing
    rm symlink
    ln -s elsewhere symlink
    u --json status
    python3 - "$scratch/out" <<'PYTHON'
import json, sys
status = json.load(open(sys.argv[1]))
got = {c["path"]: c["kind"] for c in status["changes"]}
print("  ", got)
want = {"notes.txt": "modified", "made": "created", "blob": "deleted", "harder": "renamed", "nothing": "attributes"}
for path, kind in want.items():
    assert got.get(path) == kind, (path, kind, got.get(path))
assert "symlink" in got
assert "hard" not in got
PYTHON
    u status
    out_has "R  hard -> harder"
    out_has "m  nothing  (mode)"
    end
}

S52_S56_S57_S58_checkpoints_and_rollback_by_name() {
    project
    remember start
    begin
    say "the task began at the mount: root is there without a checkpoint"
    echo 1 >>notes.txt
    remember one
    u checkpoint first -m "after one line"
    out_has "checkpoint first is n"
    echo 2 >>notes.txt
    remember two
    u checkpoint second
    echo 3 >>notes.txt
    rm src/main.c
    u rollback
    same two
    u rollback first
    same one
    expect 1 rollback no-such-checkpoint
    err_has "unwrite rollback: no-such-checkpoint is neither a state nor a checkpoint."
    same one
    u rollback root
    same start
    expect 2 checkpoint n7
    expect 2 checkpoint root
    end
}

S59_S87_nested_checkpoints_are_savepoints() {
    project
    begin
    remember at_a
    u checkpoint A
    echo 1 >>notes.txt
    remember at_b
    u checkpoint B
    echo 2 >>notes.txt
    rm blob
    say "B stays after its own rollback, and bytes are those of its making; A is still open"
    u rollback B
    same at_b
    u --json status
    json 'j["checkpoint"] == "B"'
    echo again >>notes.txt
    u rollback B
    same at_b
    u rollback A
    same at_a
    say "B was made after A, so it is no longer on the way: the newest is A"
    echo third >>notes.txt
    u rollback
    same at_a
    u --json log --all
    json 'any(e["node"]["name"] == "B" and not e["on_trunk"] for e in j["entries"])'
    say "--pop closes the checkpoint"
    u checkpoint C
    echo 4 >>notes.txt
    u rollback C --pop
    same at_a
    u --json status
    json 'j["checkpoint"] == "A"'
    end
}

S55_S39_undo_and_redo() {
    project
    remember s0
    begin
    expect 3 undo
    err_has "unwrite undo: there is nothing to undo: nothing has changed since the task began."
    expect 3 redo
    local i
    for i in 1 2 3 4; do
        echo "$i" >>notes.txt
        mv src "src$i" 2>/dev/null || mv src$((i - 1)) "src$i"
        remember "s$i"
        u checkpoint
    done
    u undo
    same s3
    u undo
    same s2
    u undo
    same s1
    say "as many times forward as back"
    u redo
    same s2
    u redo
    same s3
    u redo
    same s4
    expect 3 redo
    say "redo reverses a whole undo, and the one before it next"
    u undo 2
    same s2
    u undo
    same s1
    u redo
    same s2
    u redo
    same s4
    expect 1 undo 99
    err_has "there are only 4 steps"
    same s4
    u undo 4
    same s0
    u redo 99
    same s4
    u undo 2
    out_has '"unwrite redo" reverses this'
    same s2
    say "redo keeps what was changed since"
    echo other >other
    remember other
    u undo --dry-run
    out_has "Would undo 1 step"
    same other
    u redo
    equal other other
    [[ $(tail -n 1 notes.txt) == 4 ]] || fail "the steps did not come again"
    say "where that meets what would come again, nothing is done"
    u undo
    [[ $(tail -n 1 notes.txt) == 2 ]] || fail "undo did not take back the redo"
    echo other >>notes.txt
    remember other
    expect 5 redo
    same other
    expect 2 undo 0
    end
}

S59_redo_after_rollbacks_in_a_row() {
    project
    remember s0
    begin
    u checkpoint a
    echo 1 >>notes.txt
    remember s1
    u checkpoint b
    echo 2 >>notes.txt
    rm blob
    remember s2
    u rollback b
    same s1
    u rollback a
    same s0
    u redo 2
    same s2
    u discard --yes
    same s0
    u redo
    same s2
    expect 3 redo
    end
}

S54_S55_S61_run_summary() {
    project
    local i
    for i in $(seq 12); do echo "$i" >"$W/m$i"; done
    begin
    u run --on-exit keep -- sh -c 'for i in $(seq 12); do echo x >>m$i; done; touch new1 new2 new3; rm blob'
    err_has "Modified 12 files, created 3, deleted 1"
    err_has "+12 -0 across 16 files"
    u undo
    say "on a terminal it asks"
    python3 "$here/terminal.py" "C]ommit  [D]iscard  [R]eview=r" "C]ommit  [D]iscard  [R]eview=d" "(y/n)=y" -- \
        "$program" run -- sh -c 'echo added >>notes.txt; echo b >fresh' >"$scratch/out"
    cat "$scratch/out"
    out_has "Modified 1 file, created 1"
    out_has "+added"
    absent fresh
    equal notes.txt $'one\ntwo\nthree'
    say "the exit code is the command's; --discard-on-failure takes it back"
    expect 7 run --discard-on-failure -- sh -c 'echo z >>notes.txt; exit 7'
    equal notes.txt $'one\ntwo\nthree'
    expect 127 run --on-exit keep -- no-such-program-at-all
    u run --on-exit commit -- sh -c 'echo kept >kept'
    expect 3 undo
    equal kept kept
    end
}

S60_S85_one_tree_for_user_and_agent() {
    project
    remember start
    begin
    u checkpoint before
    u run --on-exit keep --session bot -- sh -c 'echo agent >>notes.txt'
    echo user >>src/main.c
    say "a rollback takes all of it, and says whose work that is"
    u rollback before
    err_has "bot"
    same start
    end
}

S61_S64_status() {
    project
    begin
    u status --line
    equal "$scratch/out" "[checkpoint: 0 files changed]"
    printf 'one\n2\nthree\n' >notes.txt
    printf 'a\nb\n' >fresh
    rm nothing
    mkdir d
    touch d/1 d/2
    u status --line
    equal "$scratch/out" "[checkpoint: 5 files changed]"
    u status
    out_has "M  notes.txt"
    out_has "A  fresh"
    out_has "D  nothing"
    out_has "+3 -1 across 5 files"
    out_has "; no git"
    u --json status
    json 'j["files_changed"] == 5 and j["mounted"] is True and j["wounded"] is False'
    u diff
    out_has "-two"
    out_has "+2"
    say "the diff is one that git can apply"
    cp "$scratch/out" "$scratch/patch"
    mkdir "$scratch/copy"
    printf 'one\ntwo\nthree\n' >"$scratch/copy/notes.txt"
    touch "$scratch/copy/nothing"
    (cd "$scratch/copy" && git apply "$scratch/patch" && equal notes.txt $'one\n2\nthree' && equal fresh $'a\nb')
    u diff --stat
    out_has notes.txt
    end
}

# prompt_is COUNT: what a shell's prompt would say now, and the status.
prompt_is() {
    u status --line
    equal "$scratch/out" "[checkpoint: $1 changed]"
    u --json status
    json "j['files_changed'] == ${1%% *}"
}

S64_a_prompt_after_each_command() {
    project
    mkdir "$W/old"
    touch "$W/old/1" "$W/old/2"
    begin
    prompt_is "0 files"
    echo more >>notes.txt
    prompt_is "1 file"
    mv notes.txt moved
    prompt_is "1 file"
    git init -q repository
    touch repository/1
    local count
    count=$(find repository -type f | wc -l)
    prompt_is "$((count + 1)) files"
    u run --on-exit keep -- sh -c 'echo x >repository/2; sed -i s/./y/ src/main.c; rm old/1'
    prompt_is "$((count + 4)) files"
    say "a directory that goes"
    rm -r old
    prompt_is "$((count + 5)) files"
    u undo
    prompt_is "$((count + 4)) files"
    u undo
    prompt_is "$((count + 1)) files"
    u commit --yes
    prompt_is "0 files"
    say "where nothing is mounted the number is the same"
    touch fresh
    cd /
    unwrite unmount "$W"
    u -C "$W" status --line
    equal "$scratch/out" "[checkpoint: 1 file changed]"
    unwrite mount "$W"
    cd "$W"
    prompt_is "1 file"
    end
}

S63_discard_asks() {
    project
    begin
    echo x >>notes.txt
    remember changed
    expect 2 discard
    err_has "--yes"
    same changed
    python3 "$here/terminal.py" "Discard all changes from this task? (y/n)=n" -- "$program" discard || [[ $? == 3 ]]
    same changed
    python3 "$here/terminal.py" "Discard all changes from this task? (y/n)=y" -- "$program" discard
    equal notes.txt $'one\ntwo\nthree'
    end
}

S69_log_says_who_and_when() {
    project
    begin
    u run --on-exit keep --session builder -- sh -c 'echo x >>notes.txt'
    u checkpoint after
    echo y >>src/deep/numbers
    u --json log --all
    json 'any(e["node"]["kind"] == "run" for e in j["entries"])'
    u log notes.txt
    out_has builder
    out_lacks numbers
    u log --changes
    out_has "M  notes.txt"
    u log src/deep/numbers
    out_has "by you"
    end
}

# A file with two names is listed under one of them, and found under both.
S69_log_of_a_hard_link_by_its_other_name() {
    project
    begin
    echo y >>src/main.c
    u log hard
    out_has "by you"
    u log src/main.c
    out_has "by you"
    end
}

S73_metadata_comes_back_too() {
    project
    if_root chown 1234:4321 "$W/blob"
    remember start
    begin
    chmod 4711 src/main.c
    if_root chown 7:8 blob
    touch -d '1999-01-01' src empty
    setfattr -n user.colour -v red notes.txt
    setfattr -n user.other -v x empty
    setfacl -m u:1234:rw notes.txt
    u discard --yes
    same start
    end
}

S74_S80_S81_S88_without_git() {
    project
    remember start
    begin
    echo x >>notes.txt
    echo y >fresh
    u status
    out_has "no git"
    u checkpoint
    echo z >>fresh
    u rollback root
    same start
    absent fresh
    end
}

S76_restore_and_dry_run_touch_only_what_they_say() {
    project
    begin
    u checkpoint a
    echo x >>notes.txt
    echo x >>src/main.c
    rm -r src/deep
    remember changed
    u rollback a --dry-run
    same changed
    u restore notes.txt --dry-run
    same changed
    say "S86 in part: three kept, two given back"
    u restore notes.txt src/deep
    equal notes.txt $'one\ntwo\nthree'
    present src/deep/numbers
    [[ $(tail -n 1 src/main.c) == x ]]
    say "it is a change like any other"
    u undo 2
    expect 1 restore no-such-file
    end
}

S167_the_state_directory_is_private() {
    project
    begin
    echo x >>notes.txt
    : >blob
    u checkpoint a
    end
    local bad
    [[ $(stat -c %a "$W/.unwrite") == 700 ]] || fail ".unwrite has mode $(stat -c %a "$W/.unwrite")"
    bad=$(find "$W/.unwrite" -not -path '*/attic/*' \( -type f -perm /077 -o -type d -perm /077 \))
    [[ -z $bad ]] || fail "others may reach: $bad"
    equal "$W/.unwrite/.gitignore" '*'
}
