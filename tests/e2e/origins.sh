# Several work at once: two runs and a user, in one workspace.
# shellcheck shell=bash

# Runs that go on until told: `start_run NAME FILE` begins one that obeys the commands written to a fifo.
start_run() {
    mkfifo "$scratch/$1.orders" "$scratch/$1.answers"
    "$program" --json run --on-exit keep --session "$1" -- bash -c '
        while IFS= read -r order; do eval "$order"; echo done >&3; done <"$0" 3>"$1"' \
        "$scratch/$1.orders" "$scratch/$1.answers" >"$scratch/$1.out" 2>"$scratch/$1.err" </dev/null &
    eval "${1}_pid=$!"
    eval "exec {${1}_in}>\$scratch/$1.orders {${1}_from}<\$scratch/$1.answers"
}
# order NAME COMMANDS: carried out by that run, and waited for.
order() {
    local to="${1}_in" from="${1}_from" answer
    printf '%s\n' "$2" >&"${!to}"
    IFS= read -r answer <&"${!from}"
    [[ $answer == done ]] || fail "the run $1 said \"$answer\""
}
finish_run() {
    local to="${1}_in" from="${1}_from" pid="${1}_pid"
    # Told, not left alone: the other run may have inherited this end of the fifo.
    printf 'exit 0\n' >&"${!to}"
    wait "${!pid}"
    eval "exec {$to}>&- {$from}<&-"
}

three_at_once() {
    seq 100 >common
    seq 100 >ours
    echo base >old
    u commit --yes
    say "two runs and a user, turn by turn"
    start_run red
    start_run blue
    order red 'echo red >red.txt; mkdir red.d; echo 1 >red.d/1'
    order blue 'echo blue >blue.txt'
    echo user >user.txt
    order red 'sed -i s/^1$/red/ ours; chmod 600 red.txt'
    order blue 'mkdir blue.d; echo 1 >blue.d/1; rm old'
    echo "user's" >>user.txt
    vim -n -u NONE -es -c '%s/50/fifty/' -c wq common </dev/null
    order blue 'echo more >>blue.txt'
    order red 'echo 2 >red.d/2'
    finish_run red
    finish_run blue
}

S60_undo_of_one_run_leaves_the_others() {
    needs vim
    begin
    three_at_once
    u log --changes
    say "undo of red"
    u undo red
    absent red.txt
    absent red.d
    [[ $(head -n 1 ours) == 1 ]] || fail "ours begins with $(head -n 1 ours)"
    equal blue.txt $'blue\nmore'
    present blue.d/1
    absent old
    equal user.txt $'user\nuser\'s'
    grep -q fifty common
    say "undo of blue as well"
    u undo blue
    absent blue.txt
    absent blue.d
    equal old base
    equal user.txt $'user\nuser\'s'
    grep -q fifty common
    say "and both can be had back"
    u redo 2
    equal blue.txt $'blue\nmore'
    equal red.txt red
    absent old
    end
    check_state
}

S60_undo_in_the_other_order() {
    needs vim
    begin
    three_at_once
    u undo blue
    equal old base
    absent blue.d
    present red.d/2
    u undo red
    absent red.d
    equal user.txt $'user\nuser\'s'
    u rollback root
    absent user.txt
    equal old base
    end
}

S60_what_both_changed_in_other_lines_is_taken_apart() {
    begin
    seq 100 >common
    printf '\0%s\n' {1..100} >bytes
    u commit --yes
    start_run red
    start_run blue
    order red 'sed -i s/^1$/red/ common; echo r >red.txt'
    order blue 'echo blue >>common; echo b >blue.txt'
    echo user >>bytes
    order red 'sed -i s/^50$/red/ common; echo r >>bytes'
    sed -i s/^25$/user/ common
    finish_run red
    finish_run blue
    sed -i s/^75$/user/ common
    echo user >>bytes
    cp bytes "$scratch/bytes"
    remember all
    say "the dry run says the same as what is done then"
    u undo --dry-run red
    same all
    tail -n +2 "$scratch/out" | grep -v '^ ' >"$scratch/would"
    u undo red
    tail -n +2 "$scratch/out" | grep -v '^ \|redo' | diff "$scratch/would" - || fail "it said something else before"
    out_has "other changes stay:"
    out_has "  common"
    out_has "changed again later, so they stay as they are:"
    out_has "  bytes"
    absent red.txt
    equal blue.txt b
    equal common "$({ seq 100 | sed 's/^[27]5$/user/'; echo blue; })"
    cmp bytes "$scratch/bytes"
    u redo
    same all
    say "in the other order"
    u --json undo blue
    json 'j["merged"] == ["common"] and j["left"] == []'
    equal common "$(seq 100 | sed 's/^[27]5$/user/; s/^1$/red/; s/^50$/red/')"
    absent blue.txt
    u --json undo red
    json 'j["merged"] == ["common"] and j["left"] == ["bytes"]'
    equal common "$(seq 100 | sed 's/^[27]5$/user/')"
    say "once more there is nothing that could go"
    expect 5 undo red
    err_has bytes
    u redo 2
    same all
    end
    check_state
}

S60_what_both_changed_is_a_conflict() {
    begin
    seq 100 >common
    seq 100 >ours
    u commit --yes
    start_run red
    start_run blue
    order red 'sed -i s/^100$/red/ common; echo r >red.txt'
    order blue 'echo blue >>common; echo b >blue.txt'
    order red 'echo r >>ours'
    finish_run red
    finish_run blue
    remember both
    say "what can be taken back goes, and the rest is named"
    u undo red
    out_has "  common"
    absent red.txt
    equal ours "$(seq 100)"
    equal common "$({ seq 99; echo red; echo blue; })"
    u redo
    same both
    say "rollback takes both, and says so"
    u rollback root
    err_has blue
    absent red.txt
    absent blue.txt
    u redo 9
    same both
    say "where nothing at all can be taken back, nothing is done"
    u commit --yes
    u --json run --on-exit keep --session green -- sh -c 'echo green >>ours'
    echo user >>ours
    remember mixed
    expect 5 undo green
    err_has ours
    same mixed
    end
}

S60_what_the_user_made_while_an_agent_destroys_it() {
    local turn
    begin
    echo old >old
    u commit --yes
    start_run red
    echo "of the user" >mine
    mkdir -p notes/deep
    echo "of the user" >notes/deep/mine
    echo "of the user" >>old
    order red 'rm mine; echo red >notes/deep/mine; echo red >old; rm -f notes/deep/mine; rmdir notes/deep notes'
    absent notes
    say "one state has it all, as the user left it"
    u log --all
    [[ $(grep -c ' handoff ' "$scratch/out") == 1 ]] || fail "not one turn: $(cat "$scratch/out")"
    turn=$(grep ' handoff ' "$scratch/out" | grep -o 'n[0-9]*' | head -n 1)
    say "the undo of the run alone brings it back"
    u undo red
    equal mine "of the user"
    equal notes/deep/mine "of the user"
    equal old $'old\nof the user'
    u redo
    absent mine
    u restore mine notes --from "$turn"
    equal mine "of the user"
    equal notes/deep/mine "of the user"
    equal old red
    finish_run red
    u rollback "$turn"
    equal old $'old\nof the user'
    equal mine "of the user"
    say "for an undo it is no step"
    u redo 9
    u undo 2
    absent mine
    equal old old
    end
    check_state
}

S60_a_run_in_the_middle() {
    begin
    seq 10 >f1
    seq 10 >f2
    u commit --yes
    u run --on-exit keep --session one -- sh -c 'echo 1 >>f1; echo 1 >f4'
    u run --on-exit keep --session two -- sh -c 'echo 2 >>f2; mkdir d; echo in >d/in'
    u run --on-exit keep --session three -- sh -c 'echo 3 >>f1; echo 3 >f3'
    u undo two
    equal f2 "$(seq 10)"
    absent d
    equal f3 3
    [[ $(tail -n 2 f1) == $'1\n3' ]]
    say "what the next one wrote right below stays; once that is gone, it can go as well"
    u undo one
    out_has "  f1"
    absent f4
    [[ $(tail -n 2 f1) == $'1\n3' ]]
    u undo three
    absent f3
    [[ $(tail -n 1 f1) == 1 ]]
    u undo one
    equal f1 "$(seq 10)"
    u redo 3
    [[ $(tail -n 2 f1) == $'1\n3' ]]
    equal f4 1
    u rollback root
    equal f1 "$(seq 10)"
    absent f4
    say "somebody else's file in a directory that a run made"
    u run --on-exit keep --session maker -- sh -c 'mkdir made; echo m >made/m'
    echo user >made/user
    remember made
    expect 5 undo maker
    same made
    rm made/user
    u undo maker
    absent made
    end
}

S40_S60_agents_may_not_commit_or_discard() {
    begin
    echo x >f
    local verb
    for verb in "commit --yes" "discard --yes" "unmount $W" "gc"; do
        expect 4 run $in_sight --on-exit keep -- "$program" $verb
        equal f x
    done
    u run $in_sight --on-exit keep -- "$program" status --line
    u run $in_sight --on-exit keep -- sh -c "echo y >g; '$program' checkpoint mine"
    u run --on-exit keep -- sh -c "! ls -d .unwrite; ! cat .unwrite/.gitignore"
    end
}

S60_each_sees_what_the_other_writes_at_once() {
    begin
    echo base >common
    u commit --yes
    start_run red
    order red 'echo red >>common; echo made >by-red'
    equal common $'base\nred'
    equal by-red made
    echo user >>common
    rm by-red
    echo made >by-user
    order red 'cp common seen; test -e by-user && ! test -e by-red && echo yes >>seen'
    equal seen $'base\nred\nuser\nyes'
    say "a checkpoint isolates nobody: the state goes back to what it was then, for both"
    u checkpoint here
    order red 'echo later >>common'
    echo later >by-user
    u rollback here
    err_has "This undoes changes made by red"
    order red 'cp common seen; cat by-user >>seen'
    equal seen $'base\nred\nuser\nmade'
    finish_run red
    end
}

S60_S85_discard_takes_the_users_edits_too() {
    needs vim
    seq 100 >"$W/common"
    seq 100 >"$W/ours"
    remember start
    begin
    start_run red
    order red 'sed -i s/^1$/red/ common'
    say "the user edits meanwhile: the same file, another one, a new one"
    vim -n -u NONE -es -c '%s/50/fifty/' -c wq common </dev/null
    echo user >>ours
    echo user >new
    order red 'echo r >red.txt'
    finish_run red
    remember mixed
    u discard --dry-run
    err_has ", and your own."
    same mixed
    u discard --yes
    err_has "This undoes changes made by red"
    same start
    say "and all of it can be had back"
    u redo 9
    same mixed
    end
}

S85_edits_behind_the_mount() {
    mkdir "$scratch/at"
    seq 100 >"$W/f"
    seq 100 >"$W/g"
    remember start
    cd /
    u --json mount "$W" --at "$scratch/at"
    json_value 'j["pid"]' >>"$scratch/daemons"
    cd "$scratch/at"
    echo through >>f
    echo through >>g
    say "the raw file is written past the mount after it was captured"
    echo behind >>"$W/f"
    expect 5 undo
    err_has f
    [[ $(tail -n 1 "$W/f") == behind ]]
    [[ $(tail -n 1 "$W/g") == through ]]
    u discard --dry-run
    err_has "outside the mount"
    err_has "  f"
    ! grep -qx "  g" "$scratch/err" || fail "g was not changed behind the mount"
    [[ $(tail -n 1 "$W/f") == behind ]]
    say "a discard restores what was before all of it, and lists what it takes along"
    u discard --yes --outside
    err_has "outside the mount"
    err_has "  f"
    same start
    cd /
    u unmount "$scratch/at"
    same start
    check_state
}

S85_saved_or_deleted_behind_the_mount() {
    mkdir "$scratch/at" "$W/d"
    seq 100 >"$W/saved"
    seq 100 >"$W/d/deleted"
    seq 100 >"$W/removed"
    seq 100 >"$W/mode"
    touch -d 2020-01-01 "$W" "$W/d"
    remember start
    cd /
    u --json mount "$W" --at "$scratch/at"
    json_value 'j["pid"]' >>"$scratch/daemons"
    echo through >>"$scratch/at/saved"
    echo through >>"$scratch/at/d/deleted"
    chmod 600 "$scratch/at/mode"
    echo through >>"$scratch/at/removed"
    say "what goes through the mount is no change behind it"
    rm "$scratch/at/removed"
    u -C "$scratch/at" undo
    same start "$scratch/at"
    ! grep -q "outside the mount" "$scratch/err" || fail "nothing was changed behind the mount"
    u -C "$scratch/at" redo
    u -C "$scratch/at" discard --yes
    u -C "$scratch/at" redo
    ! grep -q "outside the mount" "$scratch/err" || fail "nothing was changed behind the mount"
    absent "$W/removed"

    say "one file is saved anew and two are deleted past the mount"
    echo behind >"$W/saved.tmp"
    mv "$W/saved.tmp" "$W/saved"
    rm "$W/d/deleted" "$W/mode"
    touch -d 2020-01-01 "$W" "$W/d"
    remember behind
    expect 5 -C "$scratch/at" undo
    err_has "  saved"
    err_has "  d/deleted"
    err_has "  mode"
    same behind
    u -C "$scratch/at" discard --dry-run
    err_has "  d/deleted"
    same behind
    say "another daemon finds it as well"
    u unmount "$scratch/at"
    cd /
    u --json mount "$W" --at "$scratch/at" --on-unfinished keep
    json_value 'j["pid"]' >>"$scratch/daemons"
    say "a discard lists it and brings everything back; redo brings back what was there"
    u -C "$scratch/at" discard --yes --outside
    err_has "also undoes what was changed outside the mount"
    err_has "  saved"
    err_has "  d/deleted"
    err_has "  mode"
    ! grep -qx "  removed" "$scratch/err" || fail "removed went through the mount"
    same start "$scratch/at"
    u -C "$scratch/at" redo 9
    same behind "$scratch/at"
    u -C "$scratch/at" rollback root
    same start "$scratch/at"
    u unmount "$scratch/at"
    same start
    check_state
}

# A repository of which the agent's commit is taken back, with something of the user's on top: `fsck` finds all objects.
whole() {
    git fsck --full --strict >"$scratch/fsck" 2>&1 || { cat "$scratch/fsck" >&2; fail "git fsck: the repository is damaged"; }
    ! grep -qE 'missing|broken|invalid' "$scratch/fsck" || { cat "$scratch/fsck" >&2; fail "git fsck finds something missing"; }
    git log --oneline --all >/dev/null || fail "git log does not go through"
}

a_commit_of_an_agent() {
    begin
    needs git
    export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=me GIT_AUTHOR_EMAIL=me@example.org \
        GIT_COMMITTER_NAME=me GIT_COMMITTER_EMAIL=me@example.org
    git init -q -b main .
    for i in 1 2 3 4 5 6 7 8; do printf 'foo %s\n' "$i" >"m$i.txt"; done
    git add -A
    git commit -qm base
    u commit --yes
    u run --on-exit keep --session red -- sh -c 'sed -i s/foo/bar/ m*.txt; echo new >made.txt; git add -A; git commit -qm "of the agent"'
}

S60_a_look_does_not_keep_a_commit_from_going() {
    a_commit_of_an_agent
    sleep 1.1
    touch m1.txt
    git status >/dev/null
    echo mine >mine.txt
    u undo red
    whole
    equal m1.txt "foo 1"
    absent made.txt
    equal mine.txt mine
    [[ $(git log -1 --format=%s) == base ]] || fail "the agent's commit is still there"
    git add mine.txt
    git commit -qm "of the user"
    whole
    [[ -z $(git status --porcelain) ]] || fail "something else is changed: $(git status --porcelain)"
    end
}

S60_a_repository_that_both_changed_stays_whole() {
    a_commit_of_an_agent
    echo mine >mine.txt
    git add mine.txt
    say "the index is the user's as well"
    u undo red
    out_has "  .git"
    whole
    equal m1.txt "foo 1"
    git commit -qm "of the user"
    whole
    u redo
    whole
    say "a commit on top of the agent's"
    git commit -q --allow-empty -m "on top"
    remember both
    u undo red
    whole
    [[ $(git log -1 --format=%s) == "on top" ]] || fail "the user's commit is gone"
    u redo
    same both
    say "a branch at the agent's commit"
    git branch mine HEAD~1
    u undo red
    whole
    end
}
