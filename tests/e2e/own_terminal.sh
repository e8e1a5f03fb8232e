# The terminal that the command of a confined run has for itself: what it reaches, and that all is as on the user's.
# Told by story.sh.
# shellcheck shell=bash
source "$here/terminal.sh"

# open_shell COLUMNS ROWS: an interactive shell of the user, which finds unwrite; on a machine that allows the walls.
open_shell() {
    begin
    "$program" run --require-confinement --on-exit keep -- true 2>"$scratch/err" ||
        skip "this machine does not allow the walls: $(cat "$scratch/err")"
    screen_env="LC_ALL=C.UTF-8 PS1=out>\\  PATH=$(dirname "$program"):$PATH" \
        open_terminal "$1" "$2" bash --norc --noprofile -i
    sees "out>"
}
# types LINE: into the shell, on a clear screen.
types() {
    keys C-l
    wait_for "a clear screen" alone "out>"
    keys -l "$1"
    keys Enter
}
alone() { [[ $(shown | grep -c .) == 1 ]] && first_line "$1"; }
first_line() { [[ $(shown | head -n 1) == "$1"* ]]; }
close_shell() {
    close_screen
    end
}
# back: the user's shell is in front again, shows what is typed, and reads lines.
back() {
    wait_for "the user's shell" last_line "out>"
    types "echo back\$((6 * 7)); stty -a | grep -o ' -\\?icanon\\| -\\?echo \\|-\\?opost'"
    sees back42
    sees " icanon"
    sees " echo"
    wait_for "the usual output" screen_line opost
}
screen_line() { shown | grep -qx -- "$1 *"; }
last_line() { [[ $(shown | grep -v '^$' | tail -n 1) == "$1"* ]]; }

S167_a_run_has_a_terminal_of_its_own() {
    needs python3
    echo old >"$W/f"
    open_shell 80 24
    cp "$here/own_terminal.py" "$W"
    types 'unwrite run --require-confinement --on-exit keep -- python3 own_terminal.py probe $(stat -L -c %d:%i /proc/self/fd/0)'
    sees "nothing of the user's is reached"
    back
    say "and where one of stdin and stdout is none, these are as they were"
    types 'unwrite run --on-exit keep -- sh -c "test -t 0 && ! test -t 1 && echo piped" | cat'
    sees piped
    types 'echo typed | unwrite run --on-exit keep -- sh -c "read line; test -t 1 && echo got \$line"'
    sees "got typed"
    back
    close_shell
}

S61_all_that_a_run_prints_is_shown() {
    needs python3
    begin
    python3 "$here/own_terminal.py" drained "$program" 20000
    python3 "$here/own_terminal.py" drained "$program" 1
    end
}

S167_a_killed_agent_leaves_the_terminal_as_it_was() {
    needs python3
    open_shell 80 24
    types "unwrite run --on-exit keep -- sh -c 'stty raw -echo -opost; echo rea\$((1))dy; kill -KILL \$\$'"
    sees rea1dy
    back
    say "nor does the run, when it is killed itself"
    python3 "$here/own_terminal.py" killed "$program"
    close_shell
}

S61_full_screen_programs_in_a_run() {
    needs vim less
    seq 500 >"$W/f"
    open_shell 80 24
    types "unwrite run --on-exit keep -- vim -u NONE -N f"
    sees "500L"
    keys G
    sees 500
    say "another size is handed on"
    on_screen resize-window -t it -x 100 -y 40
    wait_for "the last line of a larger screen" line_of_screen 40 "f"
    wait_for "vim to know of it" vim_has_lines 40
    say "Ctrl-Z gives the shell its terminal back, and fg the program"
    keys C-z
    sees Stopped
    back
    types fg
    sees 500
    keys "ggddZZ"
    wait_for "the end of vim" last_line "out>"
    [[ $(head -n 1 "$W/f") == 2 ]] || fail "vim changed nothing"
    back
    types "unwrite run --on-exit keep -- less f"
    sees "23"
    keys G
    sees 500
    keys q
    back
    close_shell
}
# vim may be asked before it has heard of the new size.
vim_has_lines() {
    keys Escape ":set lines?" Enter
    sleep 0.2
    screen_has "lines=$1"
}
line_of_screen() { [[ $(shown | wc -l) -ge $(($1 - 1)) ]]; }

S61_a_shell_in_a_run_has_job_control() {
    open_shell 80 24
    types "unwrite run --on-exit keep -- bash --norc --noprofile -i"
    keys -l 'PS1="in> "'
    keys Enter
    wait_for "the shell of the run" last_line "in>"
    keys "sleep 300" Enter
    sleep 0.5
    keys C-z
    sees "Stopped"
    keys -l 'fg'
    keys Enter
    sleep 0.5
    keys C-c
    keys -l 'echo code$?'
    keys Enter
    sees code130
    say "suspend stops the whole run"
    keys suspend Enter
    wait_for "the user's shell" last_line "out>"
    keys "fg" Enter
    wait_for "the shell of the run" last_line "in>"
    keys "exit" Enter
    back
    say "Ctrl-D ends what reads to its end, Ctrl-C what runs"
    types "unwrite run --on-exit keep -- cat"
    keys "some words" Enter
    wait_for "what cat says" twice "some words"
    keys C-d
    back
    types "unwrite run --on-exit keep -- sh -c 'echo be\$((1))gun; sleep 300'; echo code\$?"
    sees be1gun
    keys C-c
    sees code130
    say "a run in the background prints, and is brought to the front"
    types "unwrite run --on-exit keep -- sh -c 'echo be\$((1))gun; read line; echo got \$line' &"
    sees be1gun
    keys "" Enter
    back
    types fg
    sees unwrite
    sleep 0.6
    keys "a line" Enter
    sees "got a line"
    back
    close_shell
}
twice() { [[ $(shown | grep -cF -- "$1") -ge 2 ]]; }

S61_a_terminal_multiplexer_in_a_run() {
    needs tmux
    open_shell 80 24
    types "unwrite run --on-exit keep -- tmux -L inner -f /dev/null new-session 'echo in\$((4 + 4)); exec sh'"
    sees in8
    keys "exit" Enter
    sees "[exited]"
    back
    close_shell
}

S43_what_cannot_be_written_elsewhere_is_told_at_the_end() {
    mkdir "$HOME/documents"
    open_shell 120 40
    types "unwrite run --on-exit keep -- sh -c 'echo x >\$HOME/documents/d; echo do\$((1))ne'"
    sees do1ne
    sees "hint: unwrite run --write DIR"
    sees "a run writes in the workspace"
    say "also where it comes in pieces, and not where nothing was refused"
    types "unwrite run --on-exit keep -- sh -c 'printf Read-only; sleep 0.5; echo \" file system\"'; echo e\$((1))nd"
    sees e1nd
    sees "hint: unwrite run --write DIR"
    types "unwrite run --on-exit keep -- sh -c 'echo x >f; echo Read-only'; echo e\$((1))nd"
    sees e1nd
    lacks "--write DIR"
    close_shell
}

S167_nothing_goes_on_without_its_terminal() {
    begin
    "$program" run --require-confinement --on-exit keep -- true 2>"$scratch/err" ||
        skip "this machine does not allow the walls: $(cat "$scratch/err")"
    open_terminal 80 24 "$program" run --on-exit keep -- bash -c 'trap : HUP TERM; echo rea$((1))dy; while :; do sleep 1; date >going_on; done'
    sees rea1dy
    say "the terminal goes, and what does not heed that is ended"
    close_screen
    wait_for "the end of the run" has_ended
    say "what was told to go on does so, with the run"
    open_terminal 80 24 "$program" run --on-exit keep -- nohup bash -c 'date >begun; for i in {1..10}; do sleep 1; done; date >done'
    wait_for "the beginning" test -e begun
    on_screen kill-server || true
    wait_for "its end" test -e done
    wait_for "the end of the run" has_ended
    end
}
# The workspace has no run.
has_ended() { ! (on_a_run) 2>/dev/null; }
on_a_run() {
    "$program" --json list >"$scratch/out"
    json 'any(r for m in j["mounts"] if m["mount_point"] == "'"$W"'" for r in m["runs"])' 2>/dev/null
}
