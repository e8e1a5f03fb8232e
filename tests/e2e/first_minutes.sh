# The first ten minutes of a new user: a shell on a terminal of 80 by 24, a git repository, an agent, vim and npm.
# What the user reads comes from the screen, what the user has comes from the files. Told by story.sh.
# shellcheck shell=bash
source "$here/terminal.sh"

# open_shell: a shell in $W, whose prompt has the number of the command that it waits for.
open_shell() {
    printf '%s\n' "PS1='\\# $ '" "PATH=$(dirname "$program"):\$PATH" >"$scratch/bashrc"
    typed=0
    cd "$W"
    screen_env="LC_ALL=C.UTF-8 npm_config_update_notifier=false npm_config_offline=true" \
        open_terminal 80 24 bash --noprofile --rcfile "$scratch/bashrc" -i
    prompted
}
# types LINE: typed at the prompt, on a screen with nothing else on it.
types() {
    printf '$ %s\n' "$1"
    keys C-l
    keys -l "$1"
    keys Enter
    typed=$((typed + 1))
}
# answers TEXT: typed at a question; with nothing it is Enter.
answers() {
    [[ -z $1 ]] || keys -l "$1"
    keys Enter
}
prompted() { wait_for "the prompt" has_prompt; }
has_prompt() { [[ $(shown | sed '/^$/d' | tail -n 1) == "$((typed + 1)) $" ]]; }
# runs LINE: typed, and the prompt is back.
runs() {
    types "$1"
    prompted
}
# read_off PATTERN: what the screen has of it.
read_off() { unbroken | grep -oE -- "$1" | head -n 1; }

a_repository() {
    git init -q -b main "$W"
    printf 'def total(a, b):\n    return a - b\n' >"$W/cart.py"
    echo 'remember the milk' >"$W/notes.txt"
    echo '# Shop' >"$W/README.md"
    git -C "$W" add .
    git -C "$W" commit -qm "A cart"
}
fixed=$'def total(a, b):\n    return a + b'
broken=$'def total(a, b):\n    return a - b'

S41_S54_S55_S57_S61_S63_the_first_ten_minutes() {
    for wanted in tmux vim npm git; do
        command -v "$wanted" >/dev/null || skip "$wanted is missing; run tools/setup"
    done
    a_repository
    remember start
    open_shell
    an_agent_works
    the_user_looks
    the_user_edits
    undo_and_redo
    npm_and_a_checkpoint
    everything_back
    runs "unwrite unmount"
    runs "cd ."
    close_screen
    cd /
    ! is_mounted "$W" || fail "$W is still mounted"
    same status_read
    check_state
}

an_agent_works() {
    say "an agent edits, deletes and creates; the question is taken for a shell, then Enter keeps"
    types "unwrite run -- sh -c 'sed -i s/-/+/ cart.py; rm notes.txt; echo ok >test.txt'"
    sees "[C]ommit  [D]iscard  [R]eview  [K]eep (Enter)"
    sees "Modified 1 file, created 1, deleted 1"
    for line in "  M  cart.py" "  D  notes.txt" "  A  test.txt" "+2 -2 across 3 files"; do sees "$line"; done
    answers clear
    sees "Type c, d, r or k. Enter means k."
    lacks "Accept"
    answers ""
    prompted
    sees "Kept."
    equal cart.py "$fixed"
    absent notes.txt
    equal test.txt ok
}

the_user_looks() {
    say "the shell goes into the mount; status and log"
    runs "cd ."
    cd "$W"
    is_mounted . || fail "the run left no mount"
    runs "unwrite status"
    sees "1 step since"
    sees "git: on main"
    sees "Modified 1 file, created 1, deleted 1"
    runs "unwrite log"
    sees "@ n"
    sees "start of the task"
    lacks "now:"
    run_node=$(shown | sed -n 's/^@ \(n[0-9]*\) .*  run  .*/\1/p')
    [[ $run_node == n* ]] || fail "the log has no run"
    remember after_the_run
}

the_user_edits() {
    say "the user's own change, in vim"
    types "vim -u NONE -N -n README.md"
    sees '"README.md"'
    keys G o
    keys -l "Adds up what is in the cart."
    keys Escape
    keys -l ":wq"
    keys Enter
    prompted
    equal README.md $'# Shop\nAdds up what is in the cart.'
    remember edited
    runs "unwrite log"
    sees "now: 1 file since $run_node, by you"
}

undo_and_redo() {
    say "the newest step is the user's own: asked first, and told how to take back the run"
    types "unwrite undo"
    sees "Undo your own changes? (y/n)"
    sees "  M  README.md"
    local advice
    advice=$(read_off "unwrite undo n[0-9]+")
    [[ $advice == "unwrite undo $run_node" ]] || fail "the advice is \"$advice\", the run is $run_node"
    answers n
    prompted
    sees "Nothing was done."
    same edited
    runs "$advice"
    sees '"unwrite redo" reverses this.'
    equal cart.py "$broken"
    equal notes.txt "remember the milk"
    absent test.txt
    equal README.md $'# Shop\nAdds up what is in the cart.'
    runs "unwrite log"
    sees "(undone)"
    runs "unwrite redo"
    same edited
}

npm_and_a_checkpoint() {
    say "npm between a checkpoint and a rollback"
    runs "npm init -y"
    sees '"version": "1.0.0"'
    runs "unwrite checkpoint before"
    remember before
    runs "npm pkg set scripts.test=true"
    [[ $(npm_test) == true ]] || fail "npm wrote \"$(npm_test)\""
    runs "unwrite rollback"
    sees "  M  package.json"
    sees '"unwrite redo" returns to it.'
    same before
}
npm_test() { python3 -IS -c 'import json; print(json.load(open("package.json"))["scripts"]["test"])'; }

everything_back() {
    say "a discard says whose work it takes, and offers to spare the user's"
    types "unwrite discard"
    sees "Discard only the agents' changes, and keep yours? (y/n)"
    sees "by run-"
    sees "by you (vim"
    answers n
    sees "Discard all changes from this task? (y/n)"
    same before
    answers y
    prompted
    same start
    runs "git status --short; git log --oneline"
    sees "A cart"
    lacks " M "
    lacks "??"
    # git has written its index anew.
    remember status_read
}
