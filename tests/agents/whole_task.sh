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
    grep -q "The task is done." "$scratch/answer" || { cat "$scratch/answer" "$scratch/answer.errors" >&2; fail "there is no answer"; }
    heard "Read me."
    heard "return 0;"
}

ended_badly() {
    tail -n 30 "$scratch/answer" "$scratch/answer.errors" >&2
    fail "$agent ended with an error"
}

# The stand-in itself: the agent does the task in a plain directory.
works_in_a_plain_directory() {
    repository
    agents_at_work
    home_of "$agent"
    the_task
    cd "$W"
    asks "$agent" "Please do the task." || ended_badly
    task_is_done
}
