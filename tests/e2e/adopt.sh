# `unwrite adopt`: a process that is running already becomes an agent.
# shellcheck shell=bash
source "$here/terminal.sh"

# start_shell: a shell that obeys, in $shell; `tell COMMANDS` has it carry them out.
start_shell() {
    mkfifo "$scratch/orders" "$scratch/answers"
    bash -c 'while IFS= read -r order; do eval "$order"; echo done >&3; done <"$0" 3>"$1"' "$scratch/orders" "$scratch/answers" &
    shell=$!
    exec {orders}>"$scratch/orders" {answers}<"$scratch/answers"
}
tell() {
    local answer
    printf '%s\n' "$1" >&"$orders"
    IFS= read -r answer <&"$answers"
    [[ $answer == done ]] || fail "the shell said \"$answer\""
}
end_shell() {
    printf 'exit 0\n' >&"$orders"
    wait "$shell"
    exec {orders}>&- {answers}<&-
}

S40_S52_an_adopted_shell_is_an_agent_of_its_own() {
    echo old >"$W/old"
    begin
    start_shell
    tell 'echo user >before-adoption'
    u adopt --session helper "$shell"
    out_has "session helper"
    tell 'echo its >its; sed -i s/old/new/ old'
    tell 'bash -c "echo child >by-a-child"'
    echo mine >mine
    say "the log knows it"
    u log --changes
    out_has helper
    say "its changes are taken back, the others stay"
    u undo helper
    absent its
    absent by-a-child
    equal old old
    equal mine mine
    equal before-adoption user
    u redo
    equal its its
    end_shell
    end
    check_state
}

S40_S45_rules_for_agents_bind_an_adopted_shell_and_its_children() {
    echo SECRET=1 >"$W/.env"
    begin
    start_shell
    tell 'echo SECRET=2 >.env'
    equal .env SECRET=2
    u adopt "$shell"
    tell 'echo SECRET=3 >.env; cat .env >seen' 2>/dev/null
    tell 'sh -c "echo SECRET=4 >.env"' 2>/dev/null
    equal .env SECRET=2
    equal seen ""
    say "it may not do what only the user may"
    tell "cd '$W' && '$program' commit --yes >'$scratch/said' 2>&1; echo \$? >>'$scratch/said'"
    grep -qx 4 "$scratch/said" || fail "it committed: $(cat "$scratch/said")"
    tell "'$program' adopt $$ >'$scratch/said' 2>&1; echo \$? >>'$scratch/said'"
    grep -qx 4 "$scratch/said" || fail "it adopted somebody: $(cat "$scratch/said")"
    say "when it has ended its changes are a step, and others are the user as before"
    tell 'echo last >last'
    end_shell
    echo mine >mine
    local tries=0
    until unwrite log | grep -q bash; do ((++tries < 100)) || fail "it has no step: $(unwrite log)"; sleep 0.05; done
    bash -c 'echo SECRET=5 >.env'
    equal .env SECRET=5
    u undo "bash-$shell"
    absent last
    equal mine mine
    end
    check_state
}

S165_what_cannot_be_adopted() {
    begin
    expect 2 adopt nobody
    expect 1 adopt 4190000
    err_has "there is no such process"
    expect 4 adopt 1
    expect 4 adopt "$daemon"
    expect 2 adopt --session user "$$"
    end
    expect 6 adopt "$$"
}

# Agents run commands on a terminal of their own, which nobody sees.
S40_S60_an_agent_on_a_terminal_is_not_asked_about_changes_of_the_user() {
    echo old >"$W/old"
    begin
    open_terminal 100 30 env PS1='at> ' bash --norc --noprofile -i
    sees "at>"
    local shell
    shell=$(TMUX_TMPDIR=/tmp tmux -L "$tmux_name" display-message -p -t it '#{pane_pid}')
    u adopt --session helper "$(pgrep -P "$shell" || echo "$shell")"
    keys -l 'echo its >its; echo new >old'
    keys Enter
    wait_for "the agent's change" test -e its
    equal old new
    echo mine >mine
    wiped
    keys -l "'$program' undo"
    keys Enter
    sees "Undid 1 step"
    lacks "(y/n)"
    absent its
    equal old old
    equal mine mine
    close_screen
    end
    check_state
}
