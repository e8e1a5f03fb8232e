# Changes outside the mount: the shell that typed `unwrite run` still stands in the real directory below it.
# shellcheck shell=bash

# raw_run COMMAND: a run that mounts, typed in a shell that stands in the workspace already. From then on the story's
# shell is outside the mount.
raw_run() {
    cd "$W"
    # shellcheck disable=SC2086
    u run $in_sight --no-confine --session run-1 -- bash -ec "$1"
    is_mounted "$W" || fail "$W is not mounted"
    ! is_mounted . || fail "the shell is in the mount"
}
# refused FILE...: undo and the discard of the agents' work keep them, and name them.
refused() {
    local file
    remember now .
    for file; do
        expect 5 undo
        err_has "  $file"
        # What is not there any more it would leave alone, and names when it is done.
        expect 5 undo run-1
        err_has "  $1"
        expect 5 discard --keep-mine --yes
        err_has "  $file"
        expect 5 discard --yes
        err_has "  $file"
        expect 5 rollback root
        err_has "  $file"
    done
    same now .
}

S85_what_a_run_made_is_edited_outside() {
    echo old >"$W/old"
    remember start
    raw_run 'echo agent >made; mkdir d; echo agent >d/made; : >empty; ln -s made link'
    u undo
    same start .
    u redo

    say "appended to"
    echo mine >>made
    u status
    out_has "Changed outside the mount, which no step records:"
    out_has "  made"
    u --json status
    json 'j["outside"] == ["made"]'
    refused made
    say "in a directory that the run made, and an empty file"
    echo mine >>d/made
    echo mine >empty
    refused made d/made empty
    say "a question that names them takes them as well; redo brings all of it"
    remember all .
    u discard --yes --outside
    err_has "  d/made"
    same start .
    u redo
    same all .
    end
    check_state
}

S85_what_a_run_made_is_replaced_outside() {
    echo old >"$W/old"
    echo old >"$W/gone"
    remember start
    raw_run 'echo agent >made; echo agent >new; mv new old; mkdir d; echo agent >d/made; rm gone'
    say "as sed -i and editors save"
    sed -i s/agent/mine/ made
    refused made
    sed -i s/agent/mine/ old
    sed -i s/agent/mine/ d/made
    echo mine >gone
    refused made old d/made gone
    equal old mine
    u discard --yes --outside
    same start .
    end
    check_state
}

S85_new_files_from_outside_in_what_a_run_made() {
    mkdir "$W/older"
    echo old >"$W/older/file"
    echo old >"$W/old"
    remember start
    raw_run 'mkdir -p d/e; echo agent >d/e/made; mv older d/older; mv old d/old'
    say "what was moved there by the run is known"
    u undo
    same start .
    u redo
    echo mine >d/e/mine
    refused d/e/mine
    mkdir -p d/mine/below
    echo mine >d/mine/below/file
    refused d/e/mine d/mine/
    say "removed again: nothing is in the way"
    rm -r d/e/mine d/mine
    u undo
    same start .
    end
    check_state
}

S85_what_a_run_changed_is_changed_outside() {
    seq 100 >"$W/written"
    seq 100 >"$W/replaced"
    seq 100 >"$W/removed"
    remember start
    raw_run 'echo agent >>written; echo agent >>replaced; echo agent >>removed; echo agent >made; echo agent >lost'
    echo mine >>written
    refused written
    sed -i s/agent/mine/ replaced
    rm removed
    refused written replaced removed
    say "what the run made and somebody removed since is no loss"
    rm lost
    ! grep -q lost "$scratch/err" || fail "there is nothing to lose"
    u discard --yes --outside
    same start .
    end
    check_state
}

S85_edited_outside_while_nothing_was_mounted() {
    echo old >"$W/old"
    remember start
    raw_run 'echo agent >made; mkdir d; echo agent >d/made'
    cd /
    u unmount "$W"
    cd "$W"
    sed -i s/agent/mine/ d/made
    echo mine >>made
    echo mine >d/mine
    expect 5 undo
    err_has "  made"
    err_has "  d/made"
    err_has "  d/mine"
    equal d/made mine
    begin --on-unfinished keep
    refused made d/made d/mine
    u discard --yes --outside
    same start
    end
    check_state
}

S85_edited_outside_after_a_kill() {
    echo old >"$W/old"
    remember start
    cd "$W"
    u --json mount .
    daemon=$(json_value 'j["pid"]')
    (cd "$W" && mkdir d && echo agent >d/made && echo agent >made)
    kill -KILL "$daemon"
    while kill -0 "$daemon" 2>/dev/null; do sleep 0.05; done
    say "what was there when the next one began accuses nobody; what comes then does"
    cd /
    u --json mount "$W" --on-unfinished keep
    json_value 'j["pid"]' >>"$scratch/daemons"
    cd "$W"
    u undo
    same start
    u redo
    cd /
    u unmount "$W"
    cd "$W"
    echo mine >>made
    echo mine >d/mine
    expect 5 undo
    err_has "  made"
    err_has "  d/mine"
    u discard --yes --outside
    same start .
    check_state
}

S85_a_terminal_is_asked_about_what_is_outside() {
    echo old >"$W/old"
    raw_run 'echo agent >made'
    u checkpoint later
    (cd "$W" && echo agent >second)
    echo mine >>second
    python3 "$here/terminal.py" "Undo these too? (y/n)=n" -- "$program" rollback later >"$scratch/screen" || [[ $? == 3 ]]
    grep -q "  second" "$scratch/screen" || fail "the file is not named"
    equal second "agent
mine"
    python3 "$here/terminal.py" "Undo these too? (y/n)=y" -- "$program" rollback later >"$scratch/screen"
    absent second
    equal made agent
    end
}
