# `unwrite integrate`: the files of the agents' clients get what they need, and lose nothing. No mount is needed.
# shellcheck shell=bash

# A user's files, with comments, blanks and links, as people have them.
clients() {
    export XDG_STATE_HOME=$scratch/home/state
    unset CODEX_HOME
    mkdir -p "$W/.claude" "$W/.gemini" "$HOME/.codex" "$scratch/dotfiles"
    printf '{\r\n\t"mcpServers": {"other": {"command": "x"}} // mine\r\n}\r\n' >"$W/.mcp.json"
    printf '{ "model":"best",\n "hooks" : { "SubagentStop": [] } }' >"$scratch/dotfiles/settings.json"
    ln -s "$scratch/dotfiles/settings.json" "$W/.claude/settings.json"
    printf '{}\n' >"$W/.gemini/settings.json"
    printf '{\n  // a comment\n  "theme": "dark"\n}\n' >"$W/opencode.jsonc"
    printf '# mine\nmodel = "o"   # the best\n[mcp_servers.other]\ncommand = "x"\n' >"$HOME/.codex/config.toml"
    chmod 600 "$HOME/.codex/config.toml"
}
everything() { (cd "$scratch" && find w home dotfiles -path home/state -prune -o -printf '%p %y %m %l\n' -o -print | sort &&
    find w home dotfiles -path home/state -prune -o -type f -print0 | sort -z | xargs -0 sha256sum); }
# The entries as the clients read them.
entry() { python3 - "$1" "${@:2}" <<'PY'
import json, re, sys, tomllib
text = open(sys.argv[1], newline="").read()
value = tomllib.loads(text) if sys.argv[1].endswith(".toml") else json.loads(re.sub(r"//.*", "", text))
for key in sys.argv[2:]:
    value = value[int(key) if key.isdigit() else key]
print(json.dumps(value))
PY
}
has_entry() {
    local seen
    seen=$(entry "${@:2}")
    [[ $seen == "$1" ]] || fail "${*:2}: $seen, not $1"
}

# tells_of_trust AGENT: Codex alone runs no hook before its user has said so in Codex.
tells_of_trust() {
    if [[ $1 == codex ]]; then
        err_has "Trust all and continue"
        err_has "/hooks"
    else
        ! grep -qi "trust" "$scratch/err" || fail "$1: $(cat "$scratch/err")"
    fi
}

S1_integrate_adds_to_what_is_there_and_goes_without_a_trace() {
    clients
    cd "$W"
    local agent before event
    before=$(everything)
    for agent in claude-code codex gemini-cli opencode; do
        say "$agent"
        u integrate "$agent" --print
        out_has unwrite
        [[ $(everything) == "$before" ]] || fail "--print did something"
        u integrate "$agent"
        err_has "--undo"
        tells_of_trust "$agent"
        local after
        after=$(everything)
        [[ $after != "$before" ]] || fail "nothing was done"
        u integrate "$agent"
        err_has "already"
        tells_of_trust "$agent"
        [[ $(everything) == "$after" ]] || fail "the second time does something"
        case $agent in
            claude-code)
                has_entry '{"command": "unwrite", "args": ["mcp"]}' .mcp.json mcpServers unwrite
                has_entry '{"command": "x"}' .mcp.json mcpServers other
                grep -q '// mine' .mcp.json
                has_entry '"command"' .claude/settings.json hooks UserPromptSubmit 0 hooks 0 type
                has_entry '[]' .claude/settings.json hooks SubagentStop
                [[ -L .claude/settings.json ]] || fail "the link is gone"
                cmp .claude/commands/unwrite/undo.md "$UNWRITE_SOURCE_DIR/integrations/claude-code/commands/undo.md"
                for event in SessionStart Stop SessionEnd; do has_entry '"command"' .claude/settings.json hooks "$event" 0 hooks 0 type; done
                ;;
            codex)
                has_entry '{"command": "unwrite", "args": ["mcp"]}' "$HOME/.codex/config.toml" mcp_servers unwrite
                grep -q '^model = "o"   # the best' "$HOME/.codex/config.toml"
                [[ $(stat -c %a "$HOME/.codex/config.toml") == 600 ]] || fail "the mode"
                ;;
            gemini-cli)
                has_entry '{"command": "unwrite", "args": ["mcp"]}' .gemini/settings.json mcpServers unwrite
                cmp .gemini/commands/unwrite/undo.toml "$UNWRITE_SOURCE_DIR/integrations/gemini-cli/commands/unwrite/undo.toml"
                ;;
            opencode)
                has_entry '["unwrite", "mcp"]' opencode.jsonc mcp unwrite command
                grep -q '// a comment' opencode.jsonc
                absent opencode.json
                ;;
        esac
        u integrate "$agent" --undo --print
        [[ $(everything) == "$after" ]] || fail "--undo --print did something"
        u integrate "$agent" --undo
        ! grep -qi "trust" "$scratch/err" || fail "$agent: $(cat "$scratch/err")"
        [[ $(everything) == "$before" ]] || fail "not as before: $(diff <(echo "$before") <(everything))"
        expect 3 integrate "$agent" --undo
    done
    say "where there was nothing, nothing is left"
    rm -r "${W:?}"/.[a-z]* "$W"/* "$HOME/.codex"
    before=$(everything)
    for agent in claude codex gemini opencode; do
        u integrate "$agent"
        u --json integrate "$agent" --undo
        json 'j["done"] and all(one["action"] == "remove" for one in j["files"])'
        [[ $(everything) == "$before" ]] || fail "not as before: $(diff <(echo "$before") <(everything))"
    done
}

S1_integrate_what_was_changed_since_stays() {
    clients
    cd "$W"
    u integrate claude-code
    u integrate codex
    sed -i 's/"other"/"renamed"/' .mcp.json
    echo mine >>.claude/commands/unwrite/undo.md
    printf '[more]\na = 1\n' >>"$HOME/.codex/config.toml"
    u integrate claude-code --undo
    out_has "leave"
    has_entry '{"renamed": {"command": "x"}}' .mcp.json mcpServers
    grep -q '// mine' .mcp.json
    grep -qx mine .claude/commands/unwrite/undo.md
    equal .claude/settings.json '{ "model":"best",
 "hooks" : { "SubagentStop": [] } }'
    u integrate codex --undo
    equal "$HOME/.codex/config.toml" '# mine
model = "o"   # the best
[mcp_servers.other]
command = "x"
[more]
a = 1'
    say "the memory of it is lost: what is ours alone goes"
    u integrate gemini-cli
    rm -r "$XDG_STATE_HOME"
    u integrate gemini-cli --undo
    absent .gemini/commands/unwrite/undo.toml
    has_entry '{}' .gemini/settings.json
}

S1_S165_integrate_what_cannot_be_done_changes_nothing() {
    clients
    cd "$W"
    local before
    refuses() {
        before=$(everything)
        expect "$1" integrate "$2"
        err_has "$3"
        [[ $(everything) == "$before" ]] || fail "something was changed"
        absent "$XDG_STATE_HOME/unwrite/integrations"
    }
    refuses 2 nobody "there is no such agent"
    say "the first file would do, the second does not"
    echo '{"hooks": [' >"$scratch/dotfiles/settings.json"
    refuses 2 claude-code "it is not JSON"
    err_has "UserPromptSubmit"
    echo '{"hooks": 1}' >"$scratch/dotfiles/settings.json"
    refuses 5 claude-code "something else in hooks"
    rm "$scratch/dotfiles/settings.json"
    refuses 2 claude-code "leads nowhere"
    rm .claude/settings.json
    mkfifo .claude/settings.json
    refuses 2 claude-code "not a regular file"
    rm .claude/settings.json
    truncate -s 5M .claude/settings.json
    refuses 2 claude-code "larger than"
    rm .claude/settings.json
    mkdir -p .claude/commands/unwrite
    echo mine >.claude/commands/unwrite/undo.md
    refuses 5 claude-code "something else in it"
    say "others"
    echo 'mcp_servers = { other = { command = "x" } }' >"$HOME/.codex/config.toml"
    refuses 5 codex "cannot be put behind"
    err_has "[mcp_servers.unwrite]"
    echo 'a = ' >"$HOME/.codex/config.toml"
    refuses 2 codex "not TOML: line 1"
    printf '{"mcp": {"unwrite": {"type": "remote"}}}' >opencode.jsonc
    refuses 5 opencode "something else in mcp.unwrite"
    python3 -c 'print("{\"a\":" + "[" * 200000 + "]" * 200000 + "}")' >opencode.jsonc
    refuses 2 opencode "nested too deeply"
    say "a directory that cannot be written"
    if [[ $EUID != 0 ]]; then
        # This is found out when it is written, after what was before has been remembered.
        chmod 555 .gemini
        before=$(everything)
        expect 4 integrate gemini-cli
        err_has "permission denied"
        [[ $(everything) == "$before" ]] || fail "something was changed"
        chmod 755 .gemini
    fi
}

S15_S145_integrate_is_there_wholly_or_not_at_all() {
    clients
    cd "$W"
    local before point now
    before=$(everything)
    u integrate claude-code
    local after
    after=$(everything)
    u integrate claude-code --undo
    for point in edit.prepared:1 edit.prepared:3 edit.written:1 edit.written:2 edit.written:3; do
        say "killed at $point, and taken out"
        UNWRITE_CRASH_AT=$point "$program" integrate claude-code >/dev/null 2>&1 && fail "it was not killed"
        unwrite integrate claude-code >/dev/null 2>&1 || fail "again, after a kill"
        find "$scratch" -name '.unwrite-edit-*' -delete
        now=$(everything)
        [[ $now == "$after" ]] || fail "$(diff <(echo "$after") <(echo "$now"))"
        UNWRITE_CRASH_AT=edit.written:${point#*:} "$program" integrate claude-code --undo >/dev/null 2>&1 || true
        unwrite integrate claude-code --undo >/dev/null 2>&1 || true
        find "$scratch" -name '.unwrite-edit-*' -delete
        rmdir .claude/commands/unwrite .claude/commands 2>/dev/null || true
        now=$(everything)
        [[ $now == "$before" ]] || fail "$(diff <(echo "$before") <(echo "$now"))"
    done
}

# What the four clients run when a prompt is sent, as it is installed, put into $scratch/hooks.
hooks() {
    local agent place event limit # in seconds, or in milliseconds
    mkdir "$scratch/hooks"
    for place in "claude-code $W/.claude/settings.json UserPromptSubmit 10" "codex $HOME/.codex/hooks.json UserPromptSubmit 10" \
        "gemini-cli $W/.gemini/settings.json BeforeAgent 10000"; do
        read -r agent place event limit <<<"$place"
        u integrate "$agent"
        has_entry "$limit" "$place" hooks "$event" 0 hooks 0 timeout
        entry "$place" hooks "$event" 0 hooks 0 command | python3 -c 'import json, sys; print(json.load(sys.stdin))' >"$scratch/hooks/$agent"
    done
    u integrate opencode
    cp "$W/.opencode/plugins/unwrite.js" "$scratch/hooks/opencode.mjs"
    python3 -c 'print("{\"cwd\": \"/\", \"prompt\": \"" + "x" * 300000 + "\"}", end="")' >"$scratch/hooks/told"
}
# sends AGENT: here. The prompt is larger than a pipe, and a client that cannot get rid of it takes that for a failure.
# Nothing may be said, and it must come to an end.
sends() {
    if [[ $1 == opencode ]]; then
        timeout 60 env "PATH=$paths" node "$here/plugin_host.mjs" "$scratch/hooks/opencode.mjs" "$PWD" ${toasts:-} >"$scratch/said" 2>&1
    else
        cat "$scratch/hooks/told" | timeout 60 env "PATH=$paths" sh -c "$(<"$scratch/hooks/$1")" >"$scratch/said" 2>&1
    fi || fail "$1: the hook: $? $(cat "$scratch/said")"
    [[ ! -s $scratch/said ]] || fail "$1: the hook says: $(cat "$scratch/said")"
}
checkpoints() { u --json log && json_value 'sum(1 for one in j["entries"] if one["node"]["text"] == "do it" or one["node"]["text"].startswith("xxx"))'; }

S1_S52_integrate_each_prompt_makes_a_checkpoint() {
    needs node
    export XDG_STATE_HOME=$scratch/home/state
    unset CODEX_HOME
    local agent agents="claude-code codex gemini-cli opencode" count=0 paths=$scratch/bin:$PATH
    mkdir "$scratch/bin" "$scratch/few" "$scratch/elsewhere"
    ln -s "$program" "$scratch/bin/unwrite"
    ln -s "$(command -v sh)" "$(command -v cat)" "$(command -v node)" "$scratch/few/"
    begin
    hooks
    for agent in $agents; do
        say "$agent, a prompt"
        toasts=1 sends "$agent"
        count=$((count + 1))
        [[ $agent != opencode ]] || count=$((count + 1))
        [[ $(checkpoints | tail -1) == "$count" ]] || fail "no checkpoint, or more than one"
        echo "$agent" >"made by $agent"
        u undo
        absent "made by $agent"
    done
    say "there is no such program"
    paths=$scratch/few
    for agent in $agents; do toasts=0 sends "$agent"; done
    say "it does not end: the plugin sees to that itself, for the others the client does"
    printf '#!/bin/sh\nexec %s infinity\n' "$(command -v sleep)" >"$scratch/few/unwrite"
    chmod +x "$scratch/few/unwrite"
    sends opencode
    paths=$scratch/bin:$PATH
    say "nothing is mounted here"
    cd "$scratch/elsewhere"
    for agent in $agents; do sends "$agent"; done
    say "the daemon is dead"
    cd "$W"
    kill -9 "$daemon"
    for agent in $agents; do sends "$agent"; done
    begin --on-unfinished keep
    # The plugin begins a session, which mounts again; the prompts of the others come without one.
    count=$((count + 1))
    [[ $(checkpoints | tail -1) == "$count" ]] || fail "a checkpoint without a prompt"
    end
}

# begin_agent: a program named claude that obeys, in $W; `tell COMMANDS` has it carry them out.
begin_agent() {
    mkdir -p "$scratch/agent"
    cat >"$scratch/agent/claude" <<'AGENT'
#!/bin/bash
while IFS= read -r order; do eval "$order"; echo done >&3; done <"$1" 3>"$2"
AGENT
    chmod +x "$scratch/agent/claude"
    mkfifo "$scratch/orders" "$scratch/answers"
    "$scratch/agent/claude" "$scratch/orders" "$scratch/answers" &
    the_agent=$!
    exec {orders}>"$scratch/orders" {answers}<"$scratch/answers"
}
tell() {
    local answer
    printf '%s\n' "$1" >&"$orders"
    IFS= read -r answer <&"$answers"
    [[ $answer == done ]] || fail "the agent said \"$answer\""
}
end_agent() {
    exec {orders}>&-
    wait "$the_agent" || true
    exec {answers}<&-
}
# hook EVENT [PROMPT]: as the agent calls it; its answer is in $scratch/out.
hook() {
    printf '{"session_id": "abcd1234-5", "prompt": "%s"}' "${2:-}" >"$scratch/told"
    tell "'$program' hook claude-code $1 <'$scratch/told' >'$scratch/out'"
    printf '$ hook %s   %s\n' "$*" "$(<"$scratch/out")"
}

# The user interrupts an agent, which says nothing of it then.
S1_S52_integrate_the_model_hears_that_a_step_was_taken_back_while_it_was_going_on() {
    echo old >"$W/old"
    begin
    begin_agent
    hook session-start
    out_has "can be taken back, also after the session: `unwrite undo claude-abcd1234`"
    hook prompt "Do it."
    tell 'echo its >its; echo new >old'
    echo mine >mine
    u undo claude-abcd1234
    absent its
    equal old old
    hook prompt "And now this."
    out_has 'The user took back step n'
    out_has '\"Do it.\" (2 files: its, old). Do not redo it.'
    hook prompt "And that."
    out_lacks "took back"
    say "once more, and the newest step is meant"
    tell 'echo its >its'
    u undo
    absent its
    hook prompt "Another."
    out_has '\"And that.\" (1 file: its). Do not redo it.'
    end_agent
    equal mine mine
    end
    check_state
}

# Its files cannot be reached until somebody mounts again, and the agent's user has not typed `unwrite` before either.
S1_S67_integrate_a_session_mounts_again_where_the_daemon_was_killed() {
    git init -q "$W"
    echo old >"$W/old"
    begin
    begin_agent
    hook session-start
    hook prompt "Do it."
    tell 'echo its >its'
    kill -KILL "$daemon"
    end_agent
    rm "$scratch/orders" "$scratch/answers"
    cd "$scratch"
    begin_agent
    printf '{"session_id": "second-1"}' >"$scratch/told"
    tell "'$program' -C '$W' hook claude-code session-start <'$scratch/told' >'$scratch/out'"
    out_has "can be taken back"
    out_lacks "nothing can be taken back"
    is_mounted "$W"
    u --json list
    json_value "[m['pid'] for m in j['mounts'] if m['mount_point'] == '$W'][0]" >>"$scratch/daemons"
    say "what the first session did is there, and goes"
    equal "$W/its" its
    u -C "$W" undo
    absent "$W/its"
    end_agent
    local tries=0
    while is_mounted "$W"; do ((++tries < 200)) || fail "it is still mounted"; sleep 0.05; done
    check_state
}
