# A whole task by $agent: read a file, change it with the agent's own tool, delete one and create one in
# the shell, answer. Then everything that can be done with what came of it, byte by byte.
# shellcheck shell=bash
source "$(dirname "${BASH_SOURCE[0]}")/agents.sh"

# repository: the project of the task, in $W.
repository() {
    mkdir -p "$W/src"
    printf 'int main(void)\n{\n    return 0;\n}\n' >"$W/src/main.c"
    printf 'old notes\n' >"$W/old.txt"
    printf 'Read me.\n' >"$W/README.md"
    git -C "$W" init -qb main
    git -C "$W" add -A
    git -C "$W" commit -qm first
}
# the_task: what the model plays when the prompt says "do the task".
the_task() {
    plays "do the task" read "$W/README.md" read "$W/src/main.c" \
        edit "$W/src/main.c" '    return 0;' '    return 42;' \
        shell "rm old.txt && echo made >new.txt" say "The task is done."
}
task_is_done() {
    equal "$W/src/main.c" 'int main(void)
{
    return 42;
}'
    equal "$W/new.txt" made
    absent "$W/old.txt"
    heard "Read me."
    heard "return 0;"
}

# does_the_task [RUN...]: without a terminal.
does_the_task() {
    local RUN=$*
    the_task
    asks "$agent" "Please do the task." || {
        tail -n 30 "$scratch/answer" "$scratch/answer.errors" >&2
        fail "$agent ended with an error"
    }
    grep -q "The task is done." "$scratch/answer" || { cat "$scratch/answer" "$scratch/answer.errors" >&2; fail "there is no answer"; }
    task_is_done
}
# does_the_task_in_a_terminal [RUN...]
does_the_task_in_a_terminal() {
    local RUN=$*
    the_task
    opens "$agent"
    says "Please do the task." "The task is done."
    leaves "$agent"
    close_screen
    task_is_done
}
# prepared: the project, and the agent with a user.
prepared() {
    repository
    agents_at_work
    home_of "$agent"
}
# all_the_ways_back: from the state after the task to the one before it, and forth again. The tree "before" is remembered,
# and there is a checkpoint of that name.
all_the_ways_back() {
    remember after
    u undo
    same before
    u redo
    same after
    u rollback before
    same before
    u redo
    same after
    u discard --yes
    same before
    u redo
    same after
    say "a review: the edit stays, the rest goes"
    printf 'accept src/main.c\nreject new.txt\nreject old.txt\n' | unwrite review --script >"$scratch/out"
    equal src/main.c 'int main(void)
{
    return 42;
}'
    absent new.txt
    equal old.txt "old notes"
    end
    check_state
}

# The stand-in itself: the agent does the task in a plain directory.
works_in_a_plain_directory() {
    prepared
    cd "$W"
    does_the_task
}
works_in_a_terminal_in_a_plain_directory() {
    prepared
    cd "$W"
    does_the_task_in_a_terminal
}
works_in_a_mount() {
    prepared
    begin
    remember before
    u checkpoint before
    does_the_task
    all_the_ways_back
}
works_in_a_terminal_in_a_mount() {
    prepared
    begin
    remember before
    u checkpoint before
    does_the_task_in_a_terminal
    all_the_ways_back
}
works_in_a_run() {
    prepared
    begin
    remember before
    u checkpoint before
    does_the_task unwrite run --
    all_the_ways_back
}
works_in_a_run_that_hides_the_home_directory() {
    prepared
    mkdir "$HOME/.ssh"
    echo secret >"$HOME/.ssh/id"
    begin
    remember before
    u checkpoint before
    does_the_task unwrite run --hide-home --
    all_the_ways_back
    equal "$HOME/.ssh/id" secret
}
works_in_a_run_with_its_model_only() {
    prepared
    # These two know the stand-in from files of their own, which unwrite does not read.
    mkdir -p "$XDG_CONFIG_HOME/unwrite"
    case $agent in
        codex | opencode) printf '[agents.%s]\nendpoints = ["%s"]\n' "$agent" "${url#http://}" >"$XDG_CONFIG_HOME/unwrite/unwrite.toml" ;;
    esac
    begin
    remember before
    u checkpoint before
    does_the_task unwrite run --network model --
    cat "$scratch/answer.errors"
    grep -q "^Network: ${url#http://} [1-9]" "$scratch/answer.errors" || fail "the model was not reached through the proxy"
    all_the_ways_back
}
works_in_a_terminal_in_a_run() {
    prepared
    begin
    remember before
    u checkpoint before
    does_the_task_in_a_terminal unwrite run --on-exit keep --
    all_the_ways_back
}
