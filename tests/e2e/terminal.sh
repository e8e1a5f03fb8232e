# A terminal of tmux for the stories: keys go in, what it shows is read back.
# shellcheck shell=bash

tmux_count=0
# open_screen COLUMNS ROWS ARGUMENTS...: unwrite with these arguments, on a terminal of this size.
open_screen() {
    local size=("$1" "$2")
    shift 2
    open_terminal "${size[@]}" "$program" "$@"
}
# open_terminal COLUMNS ROWS COMMAND...: likewise. The server stays in the story's session, and goes with it. $screen_env:
# the environment, one word each.
open_terminal() {
    local columns=$1 rows=$2 command
    shift 2
    needs tmux
    # A name of its own: the server before it takes its socket away when it ends, which may be later.
    tmux_name=unwrite-$$-$((tmux_count += 1))
    (cd / && TMUX='' TMUX_TMPDIR=/tmp exec tmux -D -L "$tmux_name" -f /dev/null) 2>/dev/null &
    disown
    wait_for "the terminal's server" on_screen list-sessions
    # shellcheck disable=SC2086
    command=$(printf '%q ' env -u NO_COLOR ${screen_env:-LC_ALL=C.UTF-8} "$@")
    on_screen new-session -d -s it -x "$columns" -y "$rows" -c "$PWD" \
        "$command; echo \"ended with \$?\"; exec cat"
}
on_screen() { TMUX_TMPDIR=/tmp tmux -L "$tmux_name" "$@" >/dev/null 2>&1; }
shown() { TMUX_TMPDIR=/tmp tmux -L "$tmux_name" capture-pane -p -t it; }
# unbroken: likewise, with the lines put together that the terminal broke; where it breaks one depends on how long $W is.
unbroken() { TMUX_TMPDIR=/tmp tmux -L "$tmux_name" capture-pane -p -J -t it; }
keys() { on_screen send-keys -t it "$@" || fail "the terminal is gone"; }
# close_screen: the terminal goes, and whatever ran on it.
close_screen() {
    local terminal
    terminal=$(TMUX_TMPDIR=/tmp tmux -L "$tmux_name" display-message -p -t it '#{pane_tty}')
    on_screen kill-server || true
    wait_for "the end of what ran on the terminal" nothing_on "${terminal#/dev/}"
}
nothing_on() { [[ -z $(ps -o pid= -t "$1" 2>/dev/null) ]]; }

# wait_for WHAT COMMAND...: until the command succeeds; $patience: for so many seconds.
wait_for() {
    local what=$1 end=$((SECONDS + ${patience:-30}))
    shift
    until "$@"; do
        ((SECONDS < end)) || { shown >&2 || true; fail "waited in vain for $what"; }
        sleep 0.05
    done
}
screen_has() { unbroken | grep -qF -- "$1"; }
# sees TEXT: it is on the screen, soon.
sees() { wait_for "\"$1\" on the screen" screen_has "$1"; }
# wiped: only the shell's prompt is left, so what comes next is not taken for what was there before.
wiped() {
    keys clear Enter
    wait_for "an empty screen" is_wiped
}
is_wiped() { [[ $(shown | grep -c .) == 1 ]] && ! screen_has clear; }
lacks() { ! screen_has "$1" || { shown >&2; fail "the screen has \"$1\""; }; }
# picks NAME: goes to the change whose line holds this name.
picks() {
    keys g / "$1" Enter
    wait_for "the cursor on $1" cursor_on "$1"
}
cursor_on() { shown | grep -E '^>' | grep -qF -- "$1"; }

# three_in_a_crash: a task that changed the files 1, 2 and 3, and a daemon that was killed in it.
three_in_a_crash() {
    for i in 1 2 3; do echo one >"$W/$i"; done
    begin
    for i in 1 2 3; do echo two >"$i"; done
    cd /
    kill -KILL "$daemon"
    while kill -0 "$daemon" 2>/dev/null; do sleep 0.05; done
}
