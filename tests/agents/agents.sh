# The words of the stories about real agents; each file of stories sources it. Every agent works for a user of its own:
# a home directory in the scratch directory, with the model stand-in as the only place it knows to ask.
# shellcheck shell=bash
tests=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/terminal.sh"
# OpenCode takes ten seconds to begin on two processors that have nothing else to do.
patience=150

# Without a second of waiting for what is not there: no host but this one answers (story.sh sees to it).
export CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 DISABLE_AUTOUPDATER=1 DISABLE_TELEMETRY=1
export OPENCODE_DISABLE_MODELS_FETCH=1 OPENCODE_DISABLE_AUTOUPDATE=1 OPENCODE_DISABLE_LSP_DOWNLOAD=1

# agents_at_work: the model answers, and the four agents and unwrite are in PATH.
agents_at_work() {
    needs node tmux git
    mkdir "$scratch/model" "$scratch/bin"
    /usr/bin/env python3 "$tests/model.py" "$scratch/model" </dev/null >"$scratch/model/errors" 2>&1 &
    disown
    local tries=0
    until [[ -s $scratch/model/port ]]; do
        ((++tries < 200)) || fail "the model stand-in did not begin: $(cat "$scratch/model/errors")"
        sleep 0.05
    done
    url=http://127.0.0.1:$(<"$scratch/model/port")
    ln -s "$program" "$scratch/bin/unwrite"
    # Codex makes its helpers in no home directory that lies in the one for temporary files.
    mkdir "$scratch/tmp"
    export TMPDIR=$scratch/tmp
    export PATH=$scratch/bin:$UNWRITE_AGENTS/node_modules/.bin:$PATH
    unset ANTHROPIC_AUTH_TOKEN OPENAI_API_KEY GOOGLE_API_KEY CLAUDECODE CLAUDE_CODE_ENTRYPOINT CODEX_HOME XDG_STATE_HOME XDG_DATA_HOME
}

version_of() { awk -v name="$1" '$1 == name { print $2 }' "$tests/versions"; }

# plays WHEN STEP...: a prompt that has WHEN in it makes the model take these steps (script.py has them).
plays() { python3 "$tests/script.py" "$scratch/model/script.json" "$@"; }
# heard TEXT, heard_not TEXT: it reached the model, or did not. forget: what was heard until now does not count.
heard() {
    python3 "$tests/heard.py" "$scratch/model/requests" has "$1" ||
        { conversation | tail -n 60 >&2; fail "the model was not told \"$1\""; }
}
heard_not() { ! python3 "$tests/heard.py" "$scratch/model/requests" has "$1" || fail "the model was told \"$1\""; }
conversation() { python3 "$tests/heard.py" "$scratch/model/requests" show; }
forget() { : >"$scratch/model/requests"; }

# home_of AGENT: what its user has set up once, and the agent's own files: the model, that it need not ask before each
# tool, and that this folder is trusted (not with `untrusted` behind it).
home_of() {
    export ANTHROPIC_BASE_URL=$url ANTHROPIC_API_KEY=sk-ant-api03-stand-in-key-of-the-tests IS_SANDBOX=1
    export GEMINI_API_KEY=stand-in GOOGLE_GEMINI_BASE_URL=$url
    "home_of_$1" "${2:-trusted}"
}
home_of_claude() {
    mkdir -p "$HOME/.claude"
    local trust='{}'
    [[ $1 == untrusted ]] || trust="{\"$W\": {\"hasTrustDialogAccepted\": true, \"hasCompletedProjectOnboarding\": true}}"
    cat >"$HOME/.claude.json" <<JSON
{"hasCompletedOnboarding": true, "theme": "dark", "numStartups": 3, "autoUpdates": false, "projects": $trust,
 "customApiKeyResponses": {"approved": ["${ANTHROPIC_API_KEY: -20}"], "rejected": []}}
JSON
    echo '{"permissions": {"allow": ["Read", "Edit", "Write", "Bash"]}}' >"$HOME/.claude/settings.json"
}
home_of_codex() {
    # Its daemon does not end with it.
    trap 'pkill -KILL -f "^$HOME/.codex/packages/" || true' EXIT
    mkdir -p "$HOME/.codex"
    cat >"$HOME/.codex/config.toml" <<TOML
model = "stand-in"
model_provider = "stand-in"
approval_policy = "never"
sandbox_mode = "workspace-write"
check_for_update_on_startup = false
[model_providers.stand-in]
name = "stand-in"
base_url = "$url/v1"
wire_api = "responses"
TOML
    [[ $1 == untrusted ]] || printf '[projects."%s"]\ntrust_level = "trusted"\n' "$W" >>"$HOME/.codex/config.toml"
}
home_of_gemini() {
    mkdir -p "$HOME/.gemini"
    cat >"$HOME/.gemini/settings.json" <<JSON
{"security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": true}},
 "general": {"disableAutoUpdate": true, "enableAutoUpdate": false}, "privacy": {"usageStatisticsEnabled": false},
 "ui": {"theme": "Default"}, "model": {"name": "gemini-2.5-flash"}, "ide": {"hasSeenNudge": true}}
JSON
    [[ $1 == untrusted ]] || echo "{\"$W\": \"TRUST_FOLDER\"}" >"$HOME/.gemini/trustedFolders.json"
}
home_of_opencode() {
    # Where nothing can be fetched it would ask for more than a minute.
    echo fetch-retries=0 >"$HOME/.npmrc"
    mkdir -p "$XDG_CONFIG_HOME/opencode"
    # It would fetch this with npm, and waits for it.
    echo '{"dependencies": {"@opencode-ai/plugin": "'"$(version_of @opencode-ai/plugin)"'"}}' >"$XDG_CONFIG_HOME/opencode/package.json"
    ln -s "$UNWRITE_AGENTS/node_modules" "$XDG_CONFIG_HOME/opencode/node_modules"
    cat >"$XDG_CONFIG_HOME/opencode/opencode.json" <<JSON
{"\$schema": "https://opencode.ai/config.json", "model": "stand-in/stand-in", "autoupdate": false, "share": "disabled",
 "provider": {"stand-in": {"npm": "@ai-sdk/openai-compatible", "name": "stand-in",
   "options": {"baseURL": "$url/v1", "apiKey": "x"}, "models": {"stand-in": {"name": "stand-in"}}}}}
JSON
}

# asks AGENT PROMPT: headless, in this directory; what it prints is in $scratch/answer ($answers: elsewhere). RUN: words in
# front of the command.
asks() {
    local agent=$1 prompt=$2 command
    command_of "$agent" "$prompt"
    printf '$ %s\n' "${RUN:+$RUN }${command[*]}" | cut -c1-200
    # shellcheck disable=SC2086
    timeout "${ASK_SECONDS:-150}" ${RUN:-} "${command[@]}" >"${answers:-$scratch/answer}" 2>"${answers:-$scratch/answer}.errors" </dev/null
}
command_of() {
    case $1 in
        claude) command=(claude -p "$2") ;;
        codex) command=(codex exec --skip-git-repo-check "$2") ;;
        gemini) command=(gemini --yolo -m gemini-2.5-flash -p "$2") ;;
        opencode) command=(opencode run "$2") ;;
    esac
}

# opens AGENT [OPTION...]: in a terminal, in this directory; returns when it takes a prompt. RUN: words in front.
opens() {
    starts "$@"
    is_ready "$1"
}
# starts AGENT [OPTION...]: likewise, and does not wait.
starts() {
    local command=("$@")
    [[ $1 != gemini ]] || command+=(--yolo)
    printf '$ %s   (in a terminal)\n' "${RUN:+$RUN }${command[*]}" | cut -c1-200
    # shellcheck disable=SC2086
    screen_env="LC_ALL=C.UTF-8 TERM=xterm-256color" open_terminal 120 40 ${RUN:-} "${command[@]}"
}
is_ready() {
    case $1 in
        claude) sees "? for shortcuts" ;;
        codex)
            sees "Ask Codex to do anything"
            # Outside a run it starts a daemon meanwhile, and a prompt that comes before that waits for ever.
            sleep 3
            ;;
        gemini) sees "Type your message" ;;
        opencode) sees "Ask anything" ;;
    esac
}
# says PROMPT ANSWER: types a prompt into it and waits for the answer.
says() {
    sleep 0.5
    keys -l "$1"
    # What is typed as fast as this is taken for pasted text, where Enter would be a new line.
    sleep 1
    keys Enter
    sees "$2"
}
# leaves AGENT: by its own command.
leaves() {
    sleep 0.5
    case $1 in
        claude | opencode) keys -l /exit ;;
        codex | gemini) keys -l /quit ;;
    esac
    sleep 1
    keys Enter
    sees "${2:-ended with 0}"
}
