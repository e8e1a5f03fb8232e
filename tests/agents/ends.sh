# $agent at work in a run, in a terminal, and one of the processes gets a signal: nothing of the agent goes on, the user's
# shell is as it was, what the agent changed is a step, and the agent starts again and knows what it knew.
# shellcheck shell=bash
source "$(dirname "${BASH_SOURCE[0]}")/sessions.sh"

# shell_of_the_user: on a terminal, in the project.
shell_of_the_user() {
    screen_env="LC_ALL=C.UTF-8 TERM=xterm-256color PS1=out>\\ " open_terminal 120 40 bash --norc --noprofile -i
    sees "out>"
}
# types LINE: into that shell.
types() {
    keys -l "$1"
    keys Enter
}
at_work() {
    rm -f "$W/begun.txt" "$W/done.txt"
    types "unwrite run --on-exit keep -- $agent$([[ $agent != gemini ]] || echo ' --yolo')"
    is_ready "$agent"
    sleep 0.5
    keys -l "Please work long."
    sleep 1
    keys Enter
    wait_for "the agent's work" test -e "$W/begun.txt"
    local shell
    shell=$(TMUX_TMPDIR=/tmp tmux -L "$tmux_name" display-message -p -t it '#{pane_pid}')
    run=$(pgrep -P "$(pgrep -P "$shell")")
    guard=$(pgrep -P "$run" | head -n 1)
    inside=$(pgrep -P "$guard" | head -n 1)
    first=$(pgrep -P "$inside" | head -n 1)
    command=$(pgrep -P "$first" | head -n 1)
    worker=$(pgrep -P "$command" | head -n 1 || true)
    [[ -n $command ]] || fail "the processes are $run $guard $inside $first $command"
}
# of_the_agent: processes of a run of this story.
of_the_agent() {
    local file
    for file in $(grep -lzs "^HOME=$HOME$" /proc/[0-9]*/environ | xargs -r grep -lzs "^UNWRITE_SESSION=" 2>/dev/null || true); do
        file=${file%/environ}
        # One that has ended has no command line.
        { [[ -z $(tr '\0' ' ' <"$file/cmdline") ]] || echo "${file#/proc/}"; } 2>/dev/null
    done
}
nothing_goes_on() { [[ -z $(of_the_agent) ]]; }
# shell_is_back: it takes lines, shows what is typed, and its terminal is in the usual state. What a killed program left on
# the screen is not looked at.
shell_is_back() {
    rm -f "$scratch/stty"
    wait_for "the user's shell" answers
    local word
    for word in icanon echo opost isig; do
        grep -Eq "(^| )$word( |;|$)" "$scratch/stty" || fail "the terminal has no $word: $(cat "$scratch/stty")"
    done
    types "reset; clear"
    sees "out>"
}
answers() {
    keys C-u
    types "stty -a >$scratch/stty.new && mv $scratch/stty.new $scratch/stty"
    sleep 0.5
    [[ -s $scratch/stty ]]
}
# is_after SIGNAL PART: what holds then.
is_after() {
    wait_for "the end of the agent" nothing_goes_on
    shell_is_back
    absent "$W/done.txt"
}
taken_back() {
    equal "$W/begun.txt" begun
    u -C "$W" undo
    absent "$W/begun.txt"
    grep -q "return 0" "$W/src/main.c" || fail "it was not undone"
}

patience=60
begin_long() {
    begin_at_home
    plays "work long" read "$W/src/main.c" edit "$W/src/main.c" '    return 0;' '    return 7;' \
        shell "echo begun >begun.txt; sleep 100; echo done >done.txt" say "It is done."
    plays "Are you there" say "Here I am."
    # What the mount says of shells that were there before is no matter here.
    begin
    shell_of_the_user
}
# sent SIGNAL PART
sent() {
    at_work
    say "$2 gets $1"
    kill "-$1" "${!2}"
    is_after
    taken_back
}
finished() {
    close_screen
    say "the agent starts again, in a run and without, and asks nothing"
    session_in_a_terminal unwrite run --on-exit keep --
    cd / && u unmount "$W" && cd "$W"
    session_in_a_terminal
    check_state
}

works_again_after_the_agent_or_the_run_was_ended() {
    begin_long
    sent TERM run
    # What is started as Gemini heeds no SIGTERM and waits for another program, the agent itself.
    if [[ $agent == gemini ]]; then sent TERM worker; else sent TERM command; fi
    sent KILL command
    sent KILL run
    finished
}
works_again_after_a_part_of_the_sandbox_was_killed() {
    begin_long
    sent KILL guard
    sent KILL inside
    sent KILL first
    finished
}
works_again_after_ctrl_c() {
    begin_long
    at_work
    say "Ctrl-C, until the agent has ended"
    wait_for "the end of the agent" interrupted
    is_after
    taken_back
    finished
}
interrupted() {
    [[ ! -e /proc/$run ]] || { keys C-c; sleep 0.3; keys C-c; sleep 2; }
    [[ ! -e /proc/$run ]]
}
works_again_after_the_daemon_was_killed() {
    begin_long
    at_work
    kill -KILL "$daemon"
    say "the files are out of reach; the user ends the agent"
    wait_for "the end of the agent" interrupted
    wait_for "the end of the agent" nothing_goes_on
    shell_is_back
    close_screen
    begin
    taken_back
    shell_of_the_user
    finished
}
