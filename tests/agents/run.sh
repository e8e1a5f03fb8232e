# $agent in `unwrite run`: the whole task without anything being set up for it, and afterwards it knows what it knew.
# shellcheck shell=bash
source "$(dirname "${BASH_SOURCE[0]}")/whole_task.sh"

# begin_run [untrusted]: a user with a repository below the home directory, not mounted yet.
begin_run() {
    rmdir "$W"
    W=$HOME/project
    repository
    agents_at_work
    home_of "$agent" "${1:-trusted}"
    the_task
    cd "$W"
}
failed() {
    tail -n 30 "$scratch/answer" "$scratch/answer.errors" >&2
    fail "$agent ended with an error"
}
unmounted() { cd / && "$program" unmount "$W" 2>/dev/null; }
# settings_of: what decides what runs later. Claude moves its `autoUpdates` to the settings when it starts; that one key
# is its own.
settings_of() {
    (cd "$HOME" && cat .gemini/settings.json .codex/config.toml .config/opencode/opencode.json 2>/dev/null) || true
    [[ ! -e $HOME/.claude ]] ||
        jq 'del(.env.DISABLE_AUTOUPDATER) | if .env == {} then del(.env) else . end' "$HOME/.claude/settings.json"
}

works_again_after_a_run() {
    begin_run
    settings_of >"$scratch/settings"
    RUN="unwrite run --" asks "$agent" "Please do the task." || failed
    task_is_done
    cat "$scratch/answer.errors"
    settings_of | diff "$scratch/settings" - || fail "its settings were changed"
    say "it is taken back"
    u undo
    grep -q "return 0" src/main.c || fail "it was not undone: $(cat src/main.c)"
    present old.txt
    absent new.txt
    say "a second session, and a plain one afterwards"
    RUN="unwrite run --on-exit keep --" asks "$agent" "Please do the task." || failed
    task_is_done
    u undo
    unmounted
    cd "$W"
    forget
    asks "$agent" "Please do the task." || failed
    task_is_done
}

# The transcript of a session in a run is what the next one, in a run or not, goes on with.
works_on_with_a_session_of_a_run() {
    begin_run
    plays "blue" say "It is blue."
    plays "which" say "Blue it was."
    RUN="unwrite run --on-exit keep --" asks "$agent" "Say blue." || failed
    local again
    case $agent in
        claude) again=(claude -p --continue "Say which.") ;;
        codex) again=(codex exec resume --last --skip-git-repo-check "Say which.") ;;
        gemini) again=(gemini --yolo -m gemini-2.5-flash --resume latest -p "Say which.") ;;
        opencode) again=(opencode run --continue "Say which.") ;;
    esac
    local run
    for run in "unwrite run --on-exit keep --" ""; do
        forget
        # shellcheck disable=SC2086
        timeout 90 $run "${again[@]}" >"$scratch/answer" 2>"$scratch/answer.errors" </dev/null || failed
        heard "Say blue."
        grep -q "Blue it was." "$scratch/answer" || { cat "$scratch/answer" "$scratch/answer.errors"; fail "no answer"; }
        [[ -z $run ]] || { unmounted; cd "$W"; }
    done
}
