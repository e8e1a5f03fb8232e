# The good half is kept, the other taken back: by path, by script, by answers.
# shellcheck shell=bash

# on_a_terminal ANSWER... -- ARGUMENTS...: as in task.sh.
on_a_terminal() {
    local dialogue=()
    while [[ $1 != -- ]]; do
        dialogue+=("$1")
        shift
    done
    shift
    python3 "$here/terminal.py" "${dialogue[@]}" -- "$program" "$@" >"$scratch/out"
}

S55_S62_commit_of_paths_keeps_the_rest_open() {
    echo one >"$W/a"
    echo one >"$W/b"
    mkdir "$W/src"
    echo one >"$W/src/old"
    begin
    echo two >a
    echo two >b
    mkdir made
    echo x >made/x
    echo y >made/y
    mv src/old src/new
    u checkpoint half
    echo three >b
    remember before
    u commit --dry-run made/x
    out_has "made/x lies in it"
    same before
    u status --line
    equal "$scratch/out" "[checkpoint: 5 files changed]"
    u commit --yes a made/x src/new -m "the good half"
    out_has "src/old is accepted too"
    same before
    say "the checkpoint in the middle is exact for the rest"
    u rollback half
    equal b two
    equal a two
    u redo
    same before
    expect 3 commit a --yes
    expect 1 commit nowhere --yes
    expect 2 commit half --yes
    err_has "half is a state"
    expect 2 commit b --keep-history
    u discard --yes
    equal a two
    equal b one
    equal made/x x
    absent made/y
    equal src/new one
    absent src/old
    u redo 9
    same before
    u --json commit --yes b
    json "[c['path'] for c in j['kept']] == ['b'] and j['needed'] == []"
    u commit --yes .
    expect 3 discard --yes
    equal b three
    end
    check_state
}

S62_discard_of_paths() {
    echo one >"$W/a"
    echo one >"$W/b"
    begin
    echo two >a
    echo two >b
    mkdir d
    echo x >d/x
    echo y >d/y
    remember changed
    expect 2 discard a
    err_has "--yes"
    u discard --dry-run a d/x
    same changed
    u discard --yes a d/x
    equal a one
    equal b two
    absent d/x
    equal d/y y
    u undo
    same changed
    end
    check_state
}

S76_restore_asks_before_it_deletes() {
    echo one >"$W/old"
    mkdir "$W/gone"
    echo x >"$W/gone/below"
    begin
    echo two >old
    echo mine >new
    rm -r gone
    u checkpoint before
    echo more >new
    remember changed
    say "what was created since is not deleted unasked"
    expect 2 restore new old
    err_has "new was created since the task began and would be deleted"
    err_has "hint: \`unwrite restore --yes\` deletes without asking"
    on_a_terminal "Delete it? (y/n)=n" -- restore new old && fail "it was restored"
    same changed
    u restore new --from before
    equal new mine
    on_a_terminal "Delete it? (y/n)=y" -- restore new old
    absent new
    equal old one
    u undo 2
    u restore --yes new
    absent new
    say "a name that never was is an error, one that is gone is not"
    expect 1 diff tpyo
    err_has "diff: tpyo is neither a state nor a path"
    expect 1 diff before tpyo
    err_has "diff: tpyo is not a path"
    expect 1 log tpyo
    err_has "log: tpyo is not in the workspace, and no state of the log had it"
    for path in gone gone/below new before old .; do
        u diff "$path"
    done
    u log gone/below
    end
}

S62_S86_a_script_of_a_review() {
    for i in 1 2 3 4 5; do echo one >"$W/f$i"; done
    seq 60 >"$W/long"
    chmod 750 "$W/long"
    echo one >"$W/old name"
    echo one >"$W/flip"
    begin
    for i in 1 2 3 4 5; do echo two >"f$i"; done
    sed -i 's/^10$/ten/; s/^30$/thirty/; s/^50$/fifty/' long
    mv "old name" $'new\nname'
    rm flip
    mkdir flip
    echo in >flip/in
    remember changed
    cat >"$scratch/script" <<'END'
# three of five
accept f1
accept f3
accept f5
reject f2
reject f4
accept-hunks 2 long
reject old name
reject "new\nname"
reject flip
END
    unwrite review --script --dry-run <"$scratch/script" >"$scratch/out"
    out_has "Would be accepted for good:"
    same changed
    unwrite --json review --script <"$scratch/script" >"$scratch/out"
    json "j['from'] > 0"
    for i in 1 3 5; do equal "f$i" two; done
    for i in 2 4; do equal "f$i" one; done
    equal long "$(seq 60 | sed 's/^30$/thirty/')"
    [[ $(stat -c %a long) == 750 ]]
    equal "old name" one
    equal flip one
    u status --line
    equal "$scratch/out" "[checkpoint: 0 files changed]"
    say "what was rejected is not lost"
    u redo
    same changed
    u discard --yes
    equal long "$(seq 60 | sed 's/^30$/thirty/')"
    say "what cannot be had says why, and nothing is done"
    echo three >f1
    mv f2 f6
    remember now
    local code=0
    printf 'accept f1\nreject f6\n' | unwrite review --script >"$scratch/out" 2>"$scratch/err" || code=$?
    [[ $code == 5 ]]
    err_has "in that state it was f2"
    code=0
    printf 'accept f1\nnonsense f6\n' | unwrite review --script 2>"$scratch/err" || code=$?
    [[ $code == 2 ]]
    err_has "line 2"
    same now
    end
    check_state
}

S62_a_review_by_answers() {
    seq 60 >"$W/long"
    echo one >"$W/b"
    begin
    sed -i 's/^10$/ten/; s/^50$/fifty/' long
    echo two >b
    mkdir d
    echo x >d/x
    remember changed
    on_a_terminal "1 of 3=a" "2 of 3=r" "3 of 3=h" "hunk 1 of 2=r" "hunk 2 of 2=a" "(y/n)=n" -- review --plain || [[ $? == 3 ]]
    out_has "+ten"
    same changed
    on_a_terminal "1 of 3=a" "2 of 3=r" "3 of 3=h" "hunk 1 of 2=r" "hunk 2 of 2=a" "(y/n)=y" -- review --plain
    equal b two
    absent d
    equal long "$(seq 60 | sed 's/^50$/fifty/')"
    u status --line
    equal "$scratch/out" "[checkpoint: 0 files changed]"
    u redo
    same changed
    expect 2 review
    err_has "--script"
    end
    check_state
}

S40_S62_an_agent_decides_nothing() {
    echo one >"$W/a"
    begin
    u run --no-confine --on-exit keep -- sh -c 'echo two >a; "$0" commit --yes a && echo worse >a; exit 0' "$program"
    err_has "an agent may not do this"
    equal a two
    u discard --yes
    equal a one
    end
}

S60_S63_discard_keeps_what_the_user_did() {
    for i in its mine both; do echo one >"$W/$i"; done
    begin
    echo two >mine
    u run --on-exit keep --session bot -- sh -c 'echo bot >its; mkdir made; echo x >made/x; rm both; echo two >both'
    echo mine >new
    expect 2 discard --keep-mine
    err_has "--yes"
    u discard --keep-mine --dry-run
    equal its bot
    u discard --keep-mine --yes
    equal its one
    equal both one
    absent made
    equal mine two
    equal new mine
    u status
    out_has "by you"
    say "what both touched is a conflict, and nothing is lost"
    u run --on-exit keep --session bot -- sh -c 'echo bot >its; echo bot >>both'
    echo user >>both
    remember now
    expect 5 discard --keep-mine --yes
    err_has both
    same now
    expect 2 discard --keep-mine --purge --yes
    end
    check_state
}

S61_S64_what_nobody_reads_file_by_file_is_one_line() {
    git -C "$W" init -q
    echo one >"$W/a"
    mkdir -p "$W/web/node_modules"
    touch "$W"/web/node_modules/{1..9}
    git -C "$W" add -A
    git -C "$W" commit -qm one
    begin
    echo two >a
    git commit -qam two
    for i in {1..9}; do echo "$i" >"web/node_modules/$i"; done
    u status
    out_has "  M  a"
    out_has "  M  .git/  ("
    out_has "  M  web/node_modules/  (9 changes below)"
    out_lacks .git/HEAD
    out_lacks .git/index
    out_lacks node_modules/1
    u diff --stat
    out_has .git/index
    u --json status
    json "any(c['path'] == 'web/node_modules/1' for c in j['changes'])"
    u run --on-exit keep -- sh -c 'for i in 1 2 3 4 5; do echo x >web/node_modules/$i; done'
    err_has "  M  web/node_modules/  (5 changes below)"
    end
}

S63_keep_mine_puts_together_what_both_changed() {
    seq 40 >"$W/both"
    seq 40 >"$W/turns"
    seq 40 >"$W/same"
    chmod 750 "$W/both"
    begin
    # put FILE OLD NEW: in place, as an editor that keeps the file does.
    cat >"$scratch/put" <<'END'
text=$(sed "s/^$2\$/$3/" "$1") && printf '%s\n' "$text" >"$1"
END
    put() { sh "$scratch/put" "$@"; }
    agent() { u run --no-confine --on-exit keep --session bot -- sh "$scratch/put" "$@"; }
    agent both 10 bot
    put both 30 user
    put turns 5 user
    agent turns 20 bot
    put turns 35 user
    agent turns 21 bot
    remember changed
    u discard --keep-mine --dry-run
    out_has both
    same changed
    u discard --keep-mine --yes
    equal both "$(seq 40 | sed 's/^30$/user/')"
    equal turns "$(seq 40 | sed 's/^5$/user/; s/^35$/user/')"
    [[ $(stat -c %a both) == 750 ]]
    u undo
    same changed
    u redo
    say "the same lines are a conflict, and nothing is done to any file"
    agent both 12 bot
    agent same 10 bot
    put same bot user
    remember now
    expect 5 discard --keep-mine --yes
    err_has same
    same now
    say "so are attributes that both changed"
    put same user 10
    agent same 11 bot
    u run --no-confine --on-exit keep --session bot -- chmod 640 same
    put same 30 user
    chmod 600 same
    remember now
    expect 5 discard --keep-mine --yes
    same now
    u discard --yes
    equal both "$(seq 40)"
    end
    check_state
}

S60_S63_keep_mine_of_files_that_were_saved_as_new_ones() {
    needs perl python3
    mkdir "$W/src"
    local file
    for file in bot user both turns linked mode; do seq 40 >"$W/src/$file"; done
    ln "$W/src/linked" "$W/link"
    chmod 640 "$W/src/mode"
    touch -d 2001-02-03 "$W"/src/*
    begin
    cat >"$scratch/save.py" <<'END'
import os, sys
path, old, new = sys.argv[1:]
lines = open(path).read().split("\n")
lines[lines.index(old)] = new
with open(path + ".new", "w") as copy:
    copy.write("\n".join(lines))
os.replace(path + ".new", path)
END
    agent() { u run --no-confine --on-exit keep --session bot -- "$@"; }
    inode() { stat -c %i "$1"; }
    before=$(inode src/linked)
    say "the agent saves as new files, the user in place, the other way round, both, and in turns"
    agent sed -i 's/^10$/bot/' src/bot src/both src/linked src/mode
    agent chmod 600 src/mode
    agent sh -c "cd src && for f in user turns; do perl -e 'open F, q(+<), shift; @l = <F>; seek F, 0, 0; s/^10\$/bot/ for @l; print F @l' \$f; done"
    for file in bot linked; do perl -e 'open F, "+<", shift; @l = <F>; seek F, 0, 0; s/^30$/user/ for @l; print F @l' "src/$file"; done
    sed -i 's/^30$/user/' src/user src/both src/mode
    python3 "$scratch/save.py" src/turns 20 user
    agent python3 "$scratch/save.py" src/turns 15 bot
    perl -pi -e 's/^30$/user/' src/turns
    grep -qx bot src/turns
    remember changed
    u discard --keep-mine --dry-run
    same changed
    u discard --keep-mine --yes
    for file in bot user both linked mode; do equal "src/$file" "$(seq 40 | sed 's/^30$/user/')"; done
    equal src/turns "$(seq 40 | sed 's/^20$/user/; s/^30$/user/')"
    say "the file that the agent replaced is the one with its other names and its mode again"
    [[ $(inode src/linked) == "$before" && $(inode link) == "$before" ]] || fail "another file came back"
    [[ $(stat -c %a src/mode) == 640 ]] || fail "the agent's mode stayed"
    u undo
    same changed
    u redo
    u diff --stat
    u undo
    same changed
    say "lines that both changed are a conflict still, and nothing is done"
    agent sed -i 's/^5$/bot/' src/both
    sed -i 's/^bot$/user/' src/both
    remember now
    expect 5 discard --keep-mine --yes
    err_has src/both
    same now
    u discard --yes
    for file in bot user both turns linked mode; do equal "src/$file" "$(seq 40)"; done
    [[ $(stat -c %y src/turns) == 2001-02-03* ]] || fail "the time did not come back"
    end
    check_state
}

S63_keep_mine_stays_within_the_task() {
    for i in first second mine; do echo one >"$W/$i"; done
    begin
    u run --on-exit keep --session bot -- sh -c 'echo bot >first'
    u task next
    u run --on-exit keep --session bot -- sh -c 'echo bot >second'
    echo two >mine
    u discard --keep-mine --dry-run
    out_has "  M  second"
    out_lacks first
    u discard --keep-mine --yes
    equal first bot
    equal second one
    equal mine two
    end
    check_state
}
