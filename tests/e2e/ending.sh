# The question after a run, at a mount that finds an unfinished task, and in `recover`: what answers it, what is said
# before anything is final, and that nothing answers it by mistake. Told by story.sh.
# shellcheck shell=bash
source "$here/terminal.sh"

# on_a_terminal [--columns N] ANSWER... -- ARGUMENTS...: unwrite there; what was shown is in $scratch/out.
on_a_terminal() {
    local dialogue=()
    while [[ $1 != -- ]]; do
        dialogue+=("$1")
        shift
    done
    shift
    python3 "$here/terminal.py" "${dialogue[@]}" -- "$program" "$@" >"$scratch/out" 2>&1 || {
        local code=$?
        [[ $code != 99 ]] || cat "$scratch/out" >&2
        return "$code"
    }
}

S54_S55_only_an_exact_answer_settles_a_run() {
    echo one >"$W/notes.md"
    begin
    say "what somebody types who takes it for a shell is no answer; Enter keeps"
    on_a_terminal "[K]eep=cat notes.md" "[K]eep=cd ." "[K]eep=clear" "[K]eep=commit everything" "[K]eep=dd" "[K]eep=" \
        -- run -- sh -c 'echo two >notes.md'
    out_has "[C]ommit  [D]iscard  [R]eview  [K]eep (Enter)"
    out_has "Type c, d, r or k. Enter means k."
    out_has "Kept."
    u undo
    equal notes.md one
    say "what is final is confirmed, and only by y or yes"
    on_a_terminal "[K]eep= COMMIT " "Accept 1 file for good? (y/n)=c" "Accept 1 file for good? (y/n)=n" \
        "[K]eep=Discard" "Discard all changes from this task? (y/n)=N" "[K]eep=k" -- run -- sh -c 'echo two >notes.md'
    equal notes.md two
    u undo
    on_a_terminal "[K]eep=c" "Accept 1 file for good? (y/n)=YES" -- run -- sh -c 'echo two >notes.md'
    out_has "Accepted for good; these changes can no longer be undone."
    expect 3 undo
    end
}

S54_S63_ctrl_c_ctrl_d_and_type_ahead_decide_nothing() {
    echo one >"$W/f"
    begin
    local key
    for key in ^C ^D; do
        on_a_terminal "[K]eep=$key" -- run -- sh -c 'echo two >f; exit 5' || [[ $? == 5 ]]
        out_has "Kept."
        on_a_terminal "[K]eep=c" "(y/n)=$key" -- run -- sh -c 'echo three >f'
        out_has "Kept."
        on_a_terminal "[K]eep=d" "(y/n)=$key" -- run -- sh -c 'echo four >f'
        out_has "Kept."
        equal f four
        local verb
        for verb in discard commit; do
            on_a_terminal "(y/n)=$key" -- "$verb" || [[ $? == 3 ]]
            out_has "Nothing was done."
        done
    done
    u discard --yes
    equal f one
    say "what was typed while the command worked was meant for something else"
    on_a_terminal "working=c" "[K]eep=d" "(y/n)=y" -- run -- sh -c 'echo working; sleep 0.5; echo two >f'
    out_has "Discarded"
    equal f one
    end
}

S54_C_after_a_run_names_all_that_it_accepts() {
    echo one | tee "$W/f" >"$W/mine"
    begin
    echo two >mine
    echo new >also
    on_a_terminal "[K]eep=c" "Accept 3 files for good? (y/n)=n" "[K]eep=k" -- run -- sh -c 'echo two >f'
    local line
    for line in "Modified 1 file" "This accepts everything that is open in the task:" "  M  f" "  M  mine" "  A  also" \
        "1 file by run-" "2 files by you"; do
        out_has "$line"
    done
    on_a_terminal "[K]eep=c" "Accept 3 files for good? (y/n)=y" -- run -- sh -c 'echo three >f'
    out_has "Accepted for good; these changes can no longer be undone."
    expect 3 undo
    end
}

S63_a_discard_says_what_goes() {
    needs git
    git init -q -b main "$W"
    git -C "$W" config user.name story
    git -C "$W" config user.email story@example.invalid
    seq 5 >"$W/f"
    git -C "$W" add f
    git -C "$W" commit -qm first
    git -C "$W" pack-refs --all
    cat >"$scratch/work" <<'SHELL'
echo a >a && git add a && git commit -qm "Add a"
echo b >b && git add b && git commit -qm "Add b"
git checkout -qb side && git commit -qm "On the side" --allow-empty && git checkout -q main
git branch other
echo more >>f && git stash -q
SHELL
    cp "$scratch/work" "$W/work"
    begin
    u run --on-exit keep -- sh work
    echo mine >own
    say "how many files by whom, since when, and what of git"
    on_a_terminal "(y/n)=n" "Discard all changes from this task? (y/n)=n" -- discard || [[ $? == 3 ]]
    cp "$scratch/out" "$scratch/said"
    local line
    [[ $(grep -c " Add a" "$scratch/out") == 1 ]] || fail "a commit is named more than once"
    for line in "changed since 20" "by run-" "1 file by you" "2 commits on main:" " Add a" " Add b" \
        "the new branch side, with 1 commit:" " On the side" "the new branch other" "1 stash entry:" "WIP on main" "Discard only the agents' changes, and keep yours? (y/n)"; do
        out_has "$line"
    done
    say "the letter D says the same"
    end
    on_a_terminal "[K]eep=d" "keep yours? (y/n)=y" -- mount "$W"
    for line in "2 commits on main:" " Add b" "the new branch side" "1 stash entry:"; do out_has "$line"; done
    out_has "yours is kept"
    local back=redo
    out_has 'unwrite redo'
    cd "$W"
    equal own mine
    absent a
    [[ $(git rev-list --count --all) == 1 ]]
    [[ $(git status --porcelain) == $'?? own\n?? work' ]]
    # shellcheck disable=SC2086
    u $back
    equal a a
    equal own mine
    end
}

S54_S63_who_only_looked_with_git_changed_nothing() {
    needs git
    git init -q -b main "$W"
    seq 5 >"$W/f"
    git -C "$W" add f
    git -C "$W" commit -qm first
    begin
    u run --on-exit keep -- sh -c 'echo new >new; git add new; echo more >>f'
    git update-index --refresh >"$scratch/refreshed" || true
    git status --short >"$scratch/status"
    on_a_terminal "Discard all changes from this task? (y/n)=y" -- discard
    out_lacks "keep yours?"
    absent new
    [[ -z $(git status --porcelain) ]] || fail "$(git status)"
    end
}

S63_git_that_stays_is_not_said_to_go() {
    needs git
    git init -q -b main "$W"
    git -C "$W" config user.name story
    git -C "$W" config user.email story@example.invalid
    git -C "$W" commit -qm first --allow-empty
    begin
    echo before >before
    (
        wait_for "the agent" test -e agent.done
        echo own >own
        git add own
        git commit -qm "of the user"
        touch user.done
    ) &
    on_a_terminal "[K]eep=d" "keep yours? (y/n)=n" "Discard all changes from this task? (y/n)=n" "[K]eep=k" \
        -- run -- sh -c 'echo a >a && git add a && git commit -qm "Add a"; touch agent.done; until [ -e user.done ]; do sleep 0.05; done'
    wait $!
    sed '/keep yours?/,$d' "$scratch/out" >"$scratch/before"
    grep -qx '  \.git' "$scratch/before" || fail "the repository is not named as what stays"
    ! grep -q "takes away" "$scratch/before" || fail "git is said to lose what it keeps"
    out_has "In git, this takes away:"
    git fsck --strict >/dev/null
    end
}

S54_a_shell_with_job_control_gives_the_terminal_back() {
    echo one >"$W/f"
    begin
    screen_env="LC_ALL=C.UTF-8 PS1=out>\\  PATH=$(dirname "$program"):$PATH" open_terminal 80 30 bash --norc --noprofile -i
    sees "out>"
    keys "unwrite run -- bash --norc --noprofile -i" Enter
    wait_for "the shell of the run" prompts 2
    keys "echo two >f" Enter
    keys "exit" Enter
    sees "[K]eep"
    keys d Enter
    sees "Discard all changes from this task? (y/n)"
    keys y Enter
    sees "Discarded"
    lacks Stopped
    say "one that is killed leaves neither a stopped question nor a terminal without echo"
    wiped
    keys "unwrite run --no-confine -- bash --norc --noprofile -i" Enter
    wait_for "the shell of the run" prompts 2
    keys 'echo two >f; stty -echo raw; kill -9 $$' Enter
    sees "[K]eep"
    keys d Enter
    sees "Discard all changes from this task? (y/n)"
    keys y Enter
    sees "Discarded"
    lacks Stopped
    close_screen
    equal f one
    end
}
prompts() { [[ $(shown | grep -c '^out>') -ge $1 ]]; }

S54_S60_D_after_a_run_beside_another_offers_its_own_first() {
    echo one >"$W/f"
    begin
    u run --session other --on-exit keep -- sh -c 'echo other >of_other; until [ -e f.done ]; do sleep 0.05; done
        echo other >also_of_other; until [ -e done ]; do sleep 0.05; done' &
    wait_for "the other run" test -e of_other
    say "no is not yes to all"
    on_a_terminal "[K]eep=d" "keep the others? (y/n)=n" "Discard all changes from this task? (y/n)=n" "[K]eep=d" \
        "Discard only the changes of this run, and keep the others? (y/n)=y" \
        -- run --session this -- sh -c 'echo this >f; touch f.done; until [ -e also_of_other ]; do sleep 0.05; done'
    out_has "1 file by other"
    out_has "what others changed is kept"
    touch done
    wait $!
    equal f one
    absent f.done
    equal of_other other
    equal also_of_other other
    u redo
    equal f this
    equal also_of_other other
}

S54_the_questions_fit_forty_columns() {
    echo one >"$W/f"
    begin
    on_a_terminal --columns 40 "[K]eep=x" "[K]eep=c" "(y/n)=n" "[K]eep=d" "(y/n)=n" "[K]eep=k" -- run -- sh -c 'echo two >f'
    fits
    crash_here
    on_a_terminal --columns 40 "[K]eep=d" "(y/n)=y" -- mount "$W"
    fits
    cd "$W"
    end
}
# fits: no line with a question is wider than 40 columns, with the cursor behind it.
fits() {
    ! grep -E '\[[CDRK]\]|\(y/n\)|^Type ' "$scratch/out" | grep -E '.{41}' || fail "these are too wide"
}
crash_here() {
    cd /
    kill -KILL "$daemon"
    while kill -0 "$daemon" 2>/dev/null; do sleep 0.01; done
}

S68_a_crash_is_told_until_somebody_answers() {
    echo one >"$W/f"
    begin
    echo two >f
    crash_here
    say "a mount that asks nobody"
    begin
    err_has "unwrite was interrupted during a task. 1 file was modified."
    u status
    out_has "unwrite was interrupted during this task"
    end
    say "a mount whose question is left"
    on_a_terminal "[K]eep=^C" -- mount "$W"
    out_has "unwrite was interrupted during a task."
    u -C "$W" run --on-exit keep -- true
    u unmount "$W"
    u -C "$W" recover --status
    u -C "$W" --json recover --status
    json 'j["interrupted"] is True'
    say "and one that is answered"
    on_a_terminal "[K]eep=k" -- -C "$W" recover
    out_has "unwrite was interrupted during a task."
    begin
    err_has "The last task is still open. 1 file was modified."
    u status
    out_lacks "was interrupted"
    u discard --yes
    equal f one
    end
}
S68_a_crash_is_settled_when_nothing_of_the_task_is_left() {
    echo one >"$W/f"
    begin
    echo two >f
    crash_here
    begin
    u rollback root
    u status
    out_lacks "was interrupted"
    u recover
    echo three >f
    u status
    out_lacks "was interrupted"
    end
}

S41_a_run_mounts_the_project_and_no_home() {
    needs git
    mkdir -p "$HOME/project/src" "$HOME/plain"
    git init -q "$HOME/project"
    cd "$HOME/project/src"
    u run --on-exit keep -- sh -c 'echo x >made'
    err_has "mounted $HOME/project;"
    present made
    cd /
    u unmount "$HOME/project"
    say "a home, and what holds one, only when it is named"
    cd "$HOME"
    expect 2 run --on-exit keep -- touch never
    err_has "$HOME is, or holds, a home directory"
    err_has "--workspace"
    expect 2 mount
    err_has "unwrite mount DIR"
    cd "$scratch"
    expect 2 run --on-exit keep -- touch never
    git init -q "$HOME"
    cd "$HOME/plain"
    u run --on-exit keep -- touch made
    err_has "mounted $HOME/plain;"
    cd /
    u unmount "$HOME/plain"
    absent "$HOME/never"
    cd "$HOME"
    on_a_terminal "(y/n)=n" -- mount || [[ $? == 3 ]]
    ! is_mounted "$HOME" || fail "it is mounted"
    u run --workspace . --on-exit keep -- touch made
    is_mounted "$HOME" || fail "it is not mounted"
    cd /
    u unmount "$HOME"
    u run --help
    out_has "unwrite run [OPTIONS] -- COMMAND..."
}

S55_S60_a_run_that_is_discarded_unasked_takes_nobody_elses_work() {
    echo base >"$W/f"
    begin
    u run --session other --on-exit keep -- sh -c 'echo theirs >b'
    unwrite run --discard-on-failure -- sh -c 'echo its >a; while [ ! -e go ]; do sleep 0.05; done; exit 1' >/dev/null 2>&1 &
    local run=$!
    while [[ ! -s a ]]; do sleep 0.05; done
    echo mine >mine
    echo more >>f
    touch go
    wait "$run" || true
    absent a
    equal mine mine
    equal f $'base\nmore'
    equal b theirs
    u redo
    equal a its
    end
}
