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
    keys a C-c
    wait_for "the question again" asks_again
    same changed
    say "every time it begins anew"
    keys r Enter
    sees "3 open"
    keys a r q
    sees "1 change is not decided"
    keys k
    sees "Do so?"
    keys y
    sees "kept, and no longer taken back by anything:"
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
    sees "Do so?"
    keys y
    sees "Still open: Modified 1 file"
    sees "ended with 0"
    close_screen
    same mine
    end
    check_state
}

three_in_a_crash() {
    for i in 1 2 3; do echo one >"$W/$i"; done
    begin
    for i in 1 2 3; do echo two >"$i"; done
    cd /
    kill -KILL "$daemon"
    while kill -0 "$daemon" 2>/dev/null; do sleep 0.05; done
}
decide_three() {
    sees "unwrite was interrupted during a task. 3 files were modified."
    sees "[C]ommit changes  [D]iscard and restore  [R]eview"
    keys r Enter
    sees "3 open"
    keys a r a q
    sees "Do so?"
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
    keys "clear; fg" Enter
    sees "1 accepted, 1 open"
    keys C-c
    sees "Nothing was done."
    same changed
    say "and at the question after a run, which is put again"
    keys "clear; unwrite run --no-confine -- sh -c 'echo three >a'" Enter
    sees "[R]eview"
    keys C-z
    sees "Stopped"
    keys "clear; fg" Enter
    sees "[R]eview"
    keys d Enter
    sees "Discarded"
    same changed
    close_screen
    end
    check_state
}
