# What a person does when a task ends or was interrupted, on a real terminal; told by story.sh.
# shellcheck shell=bash
source "$here/terminal.sh"

asks_again() { screen_has "[R]eview" && ! screen_has " open"; }

S54_S55_S62_a_review_after_a_run_is_on_the_screen() {
    for i in a b c; do echo one >"$W/$i"; done
    begin
    open_screen 100 40 run --no-confine -- sh -c 'echo two | tee a b >c'
    sees "Modified 3 files"
    sees "[C]ommit  [D]iscard  [R]eview"
    keys r Enter
    sees "3 open"
    sees "+two"
    remember changed
    say "who leaves it is asked again"
    keys a C-c y
    wait_for "the question again" asks_again
    same changed
    say "every time it begins anew"
    keys r Enter
    sees "3 open"
    keys a r q
    sees "1 change is not decided"
    keys k
    sees "Do this?"
    keys y
    sees "Accepted for good; these changes can no longer be undone:"
    sees "Still open: Modified 1 file"
    sees "ended with 0"
    close_screen
    equal a two
    equal b one
    equal c two
    u discard --yes
    equal a two
    equal c one
    end
    check_state
}

S55_S62_a_review_after_a_run_in_an_open_task() {
    for i in a b; do echo one >"$W/$i"; done
    begin
    echo mine >a
    remember mine
    open_screen 100 40 run --no-confine -- sh -c 'echo two >b'
    sees "(other changes were open before this run; a commit accepts them too)"
    keys r Enter
    sees "also what was open before the run"
    sees "2 open"
    picks b
    keys r q k
    sees "Do this?"
    keys y
    sees "Still open: Modified 1 file"
    sees "ended with 0"
    close_screen
    same mine
    end
    check_state
}

decide_three() {
    sees "unwrite was interrupted during a task. 3 files were modified."
    sees "[C]ommit changes  [D]iscard and restore  [R]eview"
    keys r Enter
    sees "3 open"
    keys a r a q
    sees "Do this?"
    keys y
    sees "ended with 0"
    close_screen
}

S68_S83_a_review_at_the_mount_is_on_the_screen() {
    three_in_a_crash
    open_screen 100 30 mount "$W"
    decide_three
    is_mounted "$W" || fail "it is not mounted"
    cd "$W"
    equal 1 two
    equal 2 one
    equal 3 two
    u status
    out_has "No changes"
    end
    check_state
}

S68_S83_a_review_of_a_recovery_is_on_the_screen() {
    three_in_a_crash
    umount -l "$W" 2>/dev/null || fusermount3 -uz "$W"
    open_screen 100 30 -C "$W" recover
    decide_three
    equal "$W/1" two
    equal "$W/2" one
    equal "$W/3" two
    check_state
}

prompts() { [[ $(shown | grep -c 'sh> $') -ge $1 ]]; }

S55_ctrl_z_gives_the_shell_its_terminal_back() {
    for i in a b; do echo one >"$W/$i"; done
    begin
    for i in a b; do echo two >"$i"; done
    remember changed
    screen_env="LC_ALL=C.UTF-8 PS1=sh>\\  PATH=$(dirname "$program"):$PATH" open_terminal 100 30 bash --norc --noprofile -i
    sees "sh>"
    keys "unwrite review" Enter
    sees "2 open"
    keys a
    sees "1 accepted, 1 open"
    keys C-z
    sees "Stopped"
    lacks "1 accepted"
    say "the shell's terminal is as it was: what is typed is shown, and read by lines"
    keys "echo here is \$((41 + 1)); stty -a | grep -o ' -\\?icanon\\| -\\?echo '" Enter
    sees "here is 42"
    sees " icanon"
    sees " echo"
    say "back in the review all is as it was left"
    wiped
    keys fg Enter
    sees "1 accepted, 1 open"
    keys C-c y
    sees "Nothing was done."
    same changed
    say "and at the question after a run, which is put again"
    wiped
    keys "unwrite run --no-confine -- sh -c 'echo three >a'" Enter
    sees "[R]eview"
    keys C-z
    sees "Stopped"
    wiped
    keys fg Enter
    sees "[R]eview"
    keys d Enter
    sees "Discard all changes from this task? (y/n)"
    keys y Enter
    sees "Discarded"
    same changed
    close_screen
    end
    check_state
}

S61_S73_attributes_are_told_apart() {
    needs setfattr setfacl git
    observed "to open it for a touch is enough to have it captured elsewhere, and equal content is not modified"
    for i in mode owner xattr acl time several written moved; do echo one >"$W/$i"; done
    chmod 644 "$W"/*
    begin
    chmod 755 mode
    [[ $EUID != 0 ]] || chown 7:7 owner
    [[ $EUID == 0 ]] || rm owner
    setfattr -n user.colour -v green xattr
    setfacl -m u:7:r acl
    touch -d 2001-02-03 time
    chmod 600 several
    touch -d 2001-02-03 several
    echo two >>written
    chmod 600 written
    mv moved away
    chmod 600 away
    u status
    [[ $EUID != 0 ]] || out_has "  m  owner  (owner)"
    out_has "  m  mode  (mode)"
    out_has "  m  xattr  (extended attributes)"
    out_has "  m  acl  (access list)"
    out_has "  m  time  (time)"
    out_has "  m  several  (mode, time)"
    out_has "  M  written  (and mode)"
    out_has "  R  moved -> away  (and mode)"
    out_has "1 extended attributes only"
    u --json status
    json '{c["path"]: c["aspects"] for c in j["changes"]}["several"] == ["mode", "time"]'
    json '{c["path"]: c["aspects"] for c in j["changes"]}["acl"] == ["acl"]'
    u diff
    out_has "# xattr: extended attributes"
    out_has "new mode 100755"
    cp "$scratch/out" "$scratch/patch"
    u diff --stat
    out_has "xattr   | extended attributes"
    u run --on-exit keep -- setfattr -n user.colour -v red xattr
    err_has "  m  xattr  (extended attributes)"
    open_screen 120 30 review
    picks xattr
    sees "Only attributes differ: extended attributes."
    keys r q k
    sees "Do this?"
    keys y
    sees "ended with 0"
    close_screen
    ! getfattr -n user.colour xattr 2>/dev/null
    mkdir "$scratch/other"
    for i in mode owner xattr acl time several written moved; do echo one >"$scratch/other/$i"; done
    say "git takes the patch with such lines in it"
    (cd "$scratch/other" && GIT_CEILING_DIRECTORIES=/ git apply "$scratch/patch")
    equal "$scratch/other/written" $'one\ntwo'
    present "$scratch/other/away"
    u discard --yes
    end
    check_state
}

S54_a_question_rings() {
    needs python3
    echo one >"$W/a"
    begin
    rings() {
        python3 "$here/terminal.py" "[R]eview=k" -- "$program" run --no-confine -- sh -c "echo $1 >a" >"$scratch/out" &&
            grep -q $'\a' "$scratch/out"
    }
    rings two || fail "nothing rings"
    mkdir -p "$XDG_CONFIG_HOME/unwrite"
    echo 'bell = false' >"$XDG_CONFIG_HOME/unwrite/unwrite.toml"
    ! rings three || fail "it rings all the same"
    out_has "[C]ommit  [D]iscard  [R]eview"
    echo 'bell = 1' >"$XDG_CONFIG_HOME/unwrite/unwrite.toml"
    expect 2 policy check
    err_has "bad value for \`bell\`"
    rm "$XDG_CONFIG_HOME/unwrite/unwrite.toml"
    u discard --yes
    end
}

S61_S62_between_any_two_states() {
    echo one >"$W/a"
    echo one >"$W/b"
    begin
    echo two >a
    u checkpoint first
    echo three >a
    echo three >b
    u checkpoint second
    echo four >a
    u diff first..second
    for line in -two +three "a/b"; do out_has "$line"; done
    out_lacks four
    u diff first..second ./b
    out_lacks a/a
    u diff root..first
    out_has -one
    out_has +two
    u diff second..first a
    out_has -three
    out_has +two
    u diff second
    out_has +four
    out_lacks b/b
    u --json diff first..second
    json '[f["change"]["path"] for f in j["files"]] == ["a", "b"]'
    remember now
    u restore a --from first --dry-run
    same now
    u restore a --from first
    equal a two
    equal b three
    u undo
    same now
    expect 1 diff first..third
    err_has third
    end
    check_state
}
