# The shell that mounts, runs and unmounts: what it is told, and what `shell-init` does by itself.
# shellcheck shell=bash

readonly outside="This shell is outside the mount"

S85_mount_and_run_end_with_what_a_shell_outside_types() {
    cd "$W"
    u mount .
    [[ $(tail -n 1 "$scratch/err") == "$outside"*"To enter: cd ." ]] || fail "the last line is another one"
    # shellcheck disable=SC2086
    u run $in_sight --no-confine -- sh -c 'echo agent >made'
    [[ $(tail -n 1 "$scratch/err") == "$outside"*"To enter: cd ." ]] || fail "the last line is another one"
    # shellcheck disable=SC2086
    expect 3 run $in_sight --no-confine -- sh -c 'exit 3'
    err_has "$outside"
    say "what is typed there later says it again, for nothing of it is recorded"
    echo unseen >unseen
    for command in status log diff "undo --dry-run" checkpoint; do
        # shellcheck disable=SC2086
        u $command
        err_has "$outside"
    done
    say "who is in the mount, or elsewhere, is told nothing"
    cd .
    # shellcheck disable=SC2086
    u run $in_sight --no-confine -- true
    ! grep -q "$outside" "$scratch/err" || fail "it is inside"
    u status
    ! grep -q "$outside" "$scratch/err" || fail "it is inside"
    cd /
    u unmount "$W"
    u mount "$W"
    ! grep -q "$outside" "$scratch/err" || fail "it is elsewhere"
    u unmount "$W"
    cd "$W"
    say "nor is who has it done by itself"
    UNWRITE_SHELL=bash u mount .
    ! grep -q "$outside" "$scratch/err" || fail "the shell enters by itself"
    cd /
    u unmount "$W"
}

# in_shell SHELL: what `shell-init` makes of it, by a script that all of them understand.
in_shell() {
    mkdir "$scratch/bin"
    ln -s "$program" "$scratch/bin/unwrite"
    export PATH=$scratch/bin:$PATH
    cat >"$scratch/work" <<'END'
unwrite mount . || exit 11
test "$(stat -f -c %t .)" = 65735546 || exit 12
unwrite unmount . || exit 13
test "$(stat -f -c %t .)" != 65735546 || exit 14
ls . >/dev/null || exit 15
unwrite run --no-confine --on-exit keep -- sh -c 'echo agent >made; exit 7'
test $status = 7 || exit 16
test "$(stat -f -c %t .)" = 65735546 || exit 17
echo mine >>made
unwrite undo 2 || exit 18
test ! -e made || exit 19
cd ..
test "$PWD" = "$SCRATCH" || exit 20
cd -
test "$PWD" = "$WORKSPACE" || exit 21
cd /
unwrite unmount "$WORKSPACE" || exit 22
END
    export SCRATCH=$scratch WORKSPACE=$W
    cd "$W"
}
S64_S85_shell_init_of_bash_enters_by_itself() {
    in_shell
    # shellcheck disable=SC2016
    { echo 'set -u; eval "$(unwrite shell-init bash)"' && sed 's/\$status/$?/' "$scratch/work"; } >"$scratch/script"
    bash --norc --noprofile "$scratch/script" >"$scratch/log" 2>&1 || { code=$?; cat "$scratch/log"; fail "line $code"; }
    ! grep -q "$outside" "$scratch/log" || fail "there is nothing to type"
}
S64_S85_shell_init_of_zsh_enters_by_itself() {
    command -v zsh >/dev/null || skip "zsh is not installed"
    in_shell
    # shellcheck disable=SC2016
    { echo 'eval "$(unwrite shell-init zsh)"' && sed 's/\$status/$?/' "$scratch/work"; } >"$scratch/script"
    zsh -f "$scratch/script" >"$scratch/log" 2>&1 || { code=$?; cat "$scratch/log"; fail "line $code"; }
}
S64_S85_shell_init_of_fish_enters_by_itself() {
    command -v fish >/dev/null || skip "fish is not installed"
    in_shell
    { echo 'unwrite shell-init fish | source' && sed 's/^\(.*\) || \(exit .*\)$/\1; or \2/' "$scratch/work"; } >"$scratch/script"
    fish --no-config "$scratch/script" >"$scratch/log" 2>&1 || { code=$?; cat "$scratch/log"; fail "line $code"; }
}

# The prompt of a shell that stands there already changes when another one mounts.
S64_S85_a_prompt_enters_and_counts() {
    mkdir "$scratch/bin"
    ln -s "$program" "$scratch/bin/unwrite"
    export PATH=$scratch/bin:$PATH
    cd "$W"
    # shellcheck disable=SC2016
    echo 'PS1="> "; eval "$(unwrite shell-init bash)"; eval "$(unwrite shell-init bash)"' >"$HOME/.bashrc"
    python3 "$here/terminal.py" "> =unwrite mount ." "> =echo 1 >made; false" "[checkpoint: 1 file changed] > =echo code \$?" \
        "code 1=complete -p unwrite" "_unwrite unwrite=cd /; unwrite unmount $W" "Unmounted=exit 0" -- bash -i >"$scratch/screen" ||
        { cat "$scratch/screen"; fail "the terminal shows something else"; }
    ! grep -q "$outside" "$scratch/screen" || fail "there is nothing to type"
    ! grep -qF "changed] [checkpoint" "$scratch/screen" || fail "twice is once"
    equal "$W/made" 1
    expect 2 shell-init tcsh
    err_has "bash, zsh and fish"
}
