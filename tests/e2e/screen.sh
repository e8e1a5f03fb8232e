# The review on a full screen, in a terminal of its own, read back from what that terminal shows.
# shellcheck shell=bash

source "$here/terminal.sh"

S55_S62_S86_three_of_five_files_on_the_screen() {
    for i in 1 2 3 4 5; do echo one >"$W/file-$i"; done
    begin
    for i in 1 2 3 4 5; do echo two >"file-$i"; done
    remember changed
    open_screen 120 30 review
    sees "5 open"
    sees "-one"
    sees "+two"
    say "on the list a verdict is on the file, and the next one comes"
    keys a
    wait_for "the next file" cursor_on file-2
    keys r
    wait_for "the next file" cursor_on file-3
    keys a r a
    sees "3 accepted, 2 rejected"
    say "one step back, and the other way"
    keys u
    sees "2 accepted, 2 rejected, 1 open"
    wait_for "the file of that step" cursor_on file-5
    keys a
    same changed
    say "nothing is done before it was agreed to"
    keys q
    sees "Would be accepted for good"
    sees "Would be taken back"
    same changed
    keys n
    sees "Nothing was done yet"
    same changed
    keys q
    sees "Do this?"
    keys y
    sees "ended with 0"
    sees "Taken back:"
    for i in 1 3 5; do equal "file-$i" two; done
    for i in 2 4; do equal "file-$i" one; done
    close_screen
    u status --line
    equal "$scratch/out" "[checkpoint: 0 files changed]"
    u redo
    same changed
    end
    check_state
}

S55_S62_one_of_three_hunks_on_the_screen() {
    seq 60 >"$W/long"
    chmod 750 "$W/long"
    begin
    sed -i 's/^10$/ten/; s/^30$/thirty/; s/^50$/fifty/' long
    remember changed
    open_screen 100 40 review
    sees "[ ] @@ -7,7"
    keys Tab
    sees ">[ ] @@ -7,7"
    keys r
    sees ">[ ] @@ -27,7"
    keys a
    sees "[a] @@ -27,7"
    say "a file of which some hunks are open is asked about"
    keys q
    sees "In 1 file only some hunks are decided"
    keys b
    sees ">[ ] @@ -47,7"
    keys r
    sees "1 in part"
    keys q
    sees "Do this?"
    same changed
    keys y
    sees "ended with 0"
    close_screen
    equal long "$(seq 60 | sed 's/^30$/thirty/')"
    [[ $(stat -c %a long) == 750 ]]
    u redo
    same changed
    end
    check_state
}

S62_a_rename_is_rejected_on_the_screen() {
    echo content >"$W/old name"
    echo one >"$W/other"
    begin
    mv "old name" $'new\nname'
    echo two >other
    open_screen 80 24 review
    sees 'old name -> "new\nname"'
    picks "old name"
    sees "rename from old name"
    keys r
    picks other
    keys q
    sees "1 change is not decided"
    keys k
    sees "Do this?"
    keys y
    sees "ended with 0"
    close_screen
    equal "old name" content
    absent $'new\nname'
    equal other two
    u status --line
    equal "$scratch/out" "[checkpoint: 1 file changed]"
    end
    check_state
}

S62_a_file_that_became_a_directory_is_rejected_on_the_screen() {
    echo one >"$W/flip"
    begin
    rm flip
    mkdir flip
    echo in >flip/in
    remember changed
    open_screen 120 30 review
    sees "D flip"
    sees "A flip/in"
    say "the one cannot be had without the other"
    picks "D flip"
    keys r
    picks flip/in
    keys a
    keys q
    sees "Nothing was done:"
    same changed
    keys Escape
    picks flip/in
    keys r
    sees "2 rejected"
    keys q
    sees "Do this?"
    keys y
    sees "ended with 0"
    close_screen
    equal flip one
    u redo
    same changed
    end
    check_state
}

S55_S63_leaving_the_screen_changes_nothing() {
    seq 60 >"$W/long"
    echo one >"$W/a"
    begin
    sed -i 's/^10$/ten/; s/^50$/fifty/' long
    echo two >a
    remember changed
    open_screen 100 30 review
    sees "2 open"
    keys q
    sees "2 changes are not decided"
    keys k
    sees "ended with 3"
    lacks "2 open"
    close_screen
    same changed
    say "Ctrl-C, whatever was said"
    open_screen 100 30 review
    keys R
    sees "2 rejected"
    keys q
    sees "Do this?"
    keys C-c
    sees "Leave, and drop these decisions? (y/n)"
    keys n
    sees "2 rejected"
    keys C-c y
    sees "ended with 3"
    sees "Nothing was done."
    close_screen
    same changed
    say "the terminal goes away"
    open_screen 100 30 review
    keys A
    sees "2 accepted"
    close_screen
    same changed
    u status --line
    equal "$scratch/out" "[checkpoint: 2 files changed]"
    end
    check_state
}

S55_the_screen_follows_the_size_of_the_terminal() {
    for i in 1 2 3; do echo one >"$W/file-$i"; done
    printf 'the quick brown fox\n' >"$W/words"
    begin
    for i in 1 2 3; do echo two >"file-$i"; done
    printf 'the quick red fox\n' >words
    open_screen 80 24 review
    sees "4 open"
    say "narrow: the list above the diff"
    sees "--------------------"
    picks words
    keys a
    on_screen resize-window -t it -x 170 -y 40
    say "wide: beside it, and the two versions side by side"
    sees "1 accepted, 3 open"
    wait_for "both versions in one line" side_by_side
    on_screen resize-window -t it -x 20 -y 5
    sees "The terminal is"
    on_screen resize-window -t it -x 120 -y 24
    sees "1 accepted, 3 open"
    keys v
    wait_for "both versions in one line" side_by_side
    keys C-c y
    sees "ended with 3"
    close_screen
    end
}
side_by_side() { shown | grep -qE 'the quick brown fox.*the quick red fox'; }

S55_odd_files_are_shown_safely() {
    printf 'x\n' >"$W/bytes"
    head -c 100000 /dev/urandom >"$W/binary"
    seq 100000 >"$W/huge"
    : >"$W/mode"
    begin
    printf 'caf\xe9 \xe2\x80\xaeevil \x1b[31mred\x1b]0;title\x07 \xe6\xbc\xa2\xe5\xad\x97\r\n' >bytes
    head -c 100000 /dev/urandom >binary
    seq 1 2 200000 >huge
    chmod 700 mode
    : >$'a\x1b[2Jb'
    mkdir heap
    touch heap/{1..80}
    open_screen 120 30 review
    sees '"a\033[2Jb"'
    picks bytes
    sees '+caf<E9> <U+202E>evil ^[[31mred^[]0;title^G 漢字^M'
    picks binary
    sees "Binary files"
    picks huge
    sees "diff --git a/huge"
    keys Tab G
    sees "199999"
    keys Escape
    picks mode
    sees "old mode 100644"
    say "a directory with much in it is one change, until it is opened"
    picks heap/
    sees "80 objects"
    keys Enter
    sees "heap/1 "
    lacks "80 objects"
    say "the filter leaves what holds all its words"
    keys f heap/7 Enter
    sees "of 11"
    keys a r C-c y
    sees "ended with 3"
    close_screen
    say "where the locale has no UTF-8, characters have numbers"
    screen_env=LC_ALL=C open_screen 120 30 review
    picks bytes
    sees '<U+6F22><U+5B57>^M'
    keys C-c
    sees "ended with 3"
    close_screen
    end
}

S55_editor_and_pager_get_the_terminal() {
    echo one >"$W/a"
    begin
    echo two >a
    printf '#!/bin/sh\necho three >>"$2"\necho "$1" >%q\n' "$scratch/edited" >"$scratch/editor"
    printf '#!/bin/sh\ncat\necho "that was all"\nread -r line </dev/tty\n' >"$scratch/pager"
    chmod +x "$scratch/editor" "$scratch/pager"
    export EDITOR="$scratch/editor '--an option'" PAGER="$scratch/pager"
    unset VISUAL
    open_screen 100 30 review
    sees "+two"
    keys a
    sees "1 accepted"
    keys p
    sees "that was all"
    keys Enter
    sees "1 accepted"
    say "what was said of another content falls"
    keys e
    sees "+three"
    sees "1 open"
    equal "$scratch/edited" "--an option"
    keys C-c
    sees "ended with 3"
    close_screen
    end
}

S61_colours_only_where_they_are_wanted() {
    echo one >"$W/a"
    begin
    echo two >a
    open_screen 100 30 review
    sees "+two"
    has_colours || fail "there is no colour"
    close_screen
    screen_env="LC_ALL=C.UTF-8 NO_COLOR=1" open_screen 100 30 review
    sees "+two"
    ! has_colours || fail "there is colour"
    close_screen
    say "where the terminal can do nothing, lines are asked"
    screen_env="LC_ALL=C.UTF-8 TERM=dumb" open_screen 100 30 review
    sees "1 of 1: [a]ccept"
    keys q Enter
    sees "ended with 3"
    close_screen
    end
}
has_colours() { TMUX_TMPDIR=/tmp tmux -L "$tmux_name" capture-pane -p -e -t it | grep -qE $'\e\\[([0-9;]*;)?3[0-7]m'; }

asked_again() { ! screen_has "3 open" && screen_has "[R]eview"; }
S54_S55_S61_S63_a_run_and_a_discard_on_a_terminal() {
    echo one >"$W/a"
    echo one >"$W/gone"
    begin
    remember start
    open_screen 100 40 run --no-confine -- sh -c 'echo two >a; rm gone; echo new >made'
    sees "Modified 1 file, created 1, deleted 1"
    sees "+2 -2 across 3 files"
    sees "[C]ommit  [D]iscard  [R]eview"
    keys r Enter
    sees "+two"
    sees "3 open"
    keys C-c
    wait_for "the question again" asked_again
    keys c Enter
    sees "Accept 3 files for good? (y/n)"
    keys y Enter
    sees "Accepted for good"
    sees "ended with 0"
    close_screen
    differs start
    expect 3 discard --yes
    remember kept
    echo three >a
    remember changed
    open_screen 100 20 discard
    sees "Discard all changes from this task? (y/n)"
    keys n Enter
    sees "ended with 3"
    close_screen
    same changed
    open_screen 100 20 discard
    sees "(y/n)"
    keys x Enter
    sees "Type y or n."
    keys y Enter
    sees "ended with 0"
    close_screen
    same kept
    end
    check_state
}

S64_a_shells_prompt() {
    echo one >"$W/a"
    begin
    say "as docs/cli.md has it"
    grep "^PROMPT_COMMAND=" "$here/../../docs/cli.md" >"$scratch/rc"
    screen_env="LC_ALL=C.UTF-8 PATH=$(dirname "$program"):$PATH" \
        open_terminal 160 20 bash --noprofile --rcfile "$scratch/rc" -i
    sees "[checkpoint: 0 files changed]"
    keys "echo two >a" Enter
    sees "[checkpoint: 1 file changed]"
    keys "cd /" Enter
    wait_for "a prompt without it" prompt_is "/ "
    close_screen
    end
}

prompt_is() { shown | grep -E '.' | tail -n 1 | grep -qE "^$1 ?[\$#]"; }

# A slow disk, as strace makes it; nothing is mounted, so the program does the work itself.
S63_long_work_says_how_far_it_is() {
    strace -qq -o /dev/null -e inject=getuid:delay_enter=1 true 2>/dev/null || skip "strace cannot delay calls here"
    local i
    for i in $(seq 100); do echo one >"$W/$i"; done
    begin
    for i in $(seq 100); do echo two >>"$i"; done
    cd /
    u unmount "$W"
    open_terminal 100 30 strace -f -qq -o /dev/null -e inject=ftruncate:delay_enter=40000 \
        "$program" -C "$W" discard --yes
    sees "restoring  [#"
    sees "ended with 0"
    lacks "restoring"
    equal "$W/100" one
    close_screen
}

S62_what_changes_meanwhile_is_not_agreed_to() {
    seq 60 >"$W/a"
    echo one >"$W/b"
    begin
    sed -i 's/^10$/ten/; s/^50$/fifty/' a
    echo two >b
    open_screen 100 30 review
    sees "+ten"
    keys A
    sees "2 accepted"
    keys q
    sees "Do this?"
    echo three >b
    remember changed
    keys y
    sees "changed since they were shown"
    same changed
    keys Escape
    sees "1 accepted, 1 open"
    picks b
    sees "+three"
    keys r q
    sees "Do this?"
    keys y
    sees "ended with 0"
    close_screen
    equal b one
    equal a "$(seq 60 | sed 's/^10$/ten/; s/^50$/fifty/')"
    end
    check_state
}

S62_what_nobody_reads_is_decided_as_one_on_the_screen() {
    mkdir -p "$W/node_modules/p"
    for i in {1..9}; do echo one >"$W/node_modules/p/$i"; done
    echo one >"$W/a"
    begin
    for i in {1..9}; do echo two >"node_modules/p/$i"; done
    echo two >a
    remember changed
    open_screen 170 30 review
    sees "2 open"
    picks node_modules/
    sees "node_modules/  (9 changes below)"
    sees "in which 9 objects changed"
    keys r q
    sees "1 change is not decided"
    keys k
    sees "Do this?"
    say "one more file in it: that is not what was shown"
    echo three >node_modules/p/10
    remember more
    keys y
    sees "changed since they were shown"
    same more
    rm node_modules/p/10
    remember again
    keys Escape
    sees "2 open"
    keys r q k
    sees "changed since they were shown"
    keys Escape
    sees "2 open"
    keys r q k
    sees "Do this?"
    keys y
    sees "ended with 0"
    close_screen
    for i in {1..9}; do equal "node_modules/p/$i" one; done
    equal a two
    u redo
    same again
    end
    check_state
}

S68_S83_a_review_after_a_crash_on_the_screen() {
    three_in_a_crash
    expect 0 mount "$W" --on-unfinished keep
    err_has "unwrite was interrupted during a task. 3 files were modified."
    cd "$W"
    open_screen 100 30 review
    sees "3 open"
    keys a r a q
    sees "Do this?"
    keys y
    sees "ended with 0"
    close_screen
    equal 1 two
    equal 2 one
    equal 3 two
    end
    check_state
}
