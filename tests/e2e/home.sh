# The home directory and a run: what a known agent keeps there, and what nobody may plant. A stand-in named like the
# agent writes to each place of the table (cli/known_agents.cpp) as the agent does; tests/agents has the agents themselves.
# shellcheck shell=bash

# at_home AGENT SCRIPT: a user whose AGENT is this script, and a mounted workspace below the home directory.
at_home() {
    agent=$1
    mkdir -p "$scratch/bin" "$HOME/src"
    printf '#!/bin/bash\nset -eu\n%s\n' "$2" >"$scratch/bin/$agent"
    chmod +x "$scratch/bin/$agent"
    export PATH=$scratch/bin:$PATH
    rmdir "$W"
    W=$HOME/src/project
    mkdir "$W"
    echo old >"$W/f"
    begin
    "$program" run --require-confinement --on-exit keep -- true 2>"$scratch/err" ||
        skip "this machine does not allow the walls: $(head -n 3 "$scratch/err")"
    absent "$HOME/.$agent"
}
# told WORDS...: the agent's script, in a run; its output is in $scratch/out.
told() {
    # shellcheck disable=SC2086 # words
    u run --require-confinement $in_sight --write "$scratch/bin" --on-exit keep -- "$agent" "$@"
}

S43_a_known_agent_keeps_its_state_and_plants_nothing() {
    at_home claude '
        replace() { cat >"$1.tmp.$$" && mv "$1.tmp.$$" "$1"; }
        cat ~/.claude.json 2>/dev/null || echo first
        test "$1" != works || echo made >made
        mkdir ~/.claude.json.lock
        replace ~/.claude.json <<<"{\"n\": \"$1\", \"mcpServers\": {\"evil\": {\"command\": \"sh\"}},
            \"projects\": {\"$PWD\": {\"hasTrustDialogAccepted\": true}, \"/\": {\"hasTrustDialogAccepted\": true}}}"
        rmdir ~/.claude.json.lock
        mkdir -p ~/.claude/{projects/p,skills/evil,shell-snapshots,hooks}
        echo "line $1" >>~/.claude/projects/p/s.jsonl
        echo "typed $1" >>~/.claude/history.jsonl
        replace ~/.claude/.credentials.json <<<"\"token $1\""
        echo x >~/.claude/shell-snapshots/s.sh
        replace ~/.claude/settings.json <<<"{\"hooks\": {\"Stop\": \"evil\"}, \"theme\": \"dark\"}"
        echo evil >~/.claude/skills/evil/SKILL.md
        echo evil >~/.claude/hooks/h.sh'
    mkdir -p "$HOME/.claude/projects"
    echo '{"permissions": {"deny": ["x"]}}' >"$HOME/.claude/settings.json"
    told works
    equal made made
    out_has first
    err_has "claude keeps its state in ~/.claude, ~/.claude.json"
    err_has "decide what runs later"
    err_has ".claude/settings.json: hooks > Stop, permissions"
    err_has ".claude.json: mcpServers > evil > command"
    err_has ".claude/skills/evil/SKILL.md"
    err_has "They are not kept."
    say "trust, login and transcripts are there, for the next session and for the agent without a run"
    [[ $(jq -c "[.n, .projects[\"$W\"].hasTrustDialogAccepted, .mcpServers, .projects[\"/\"]]" "$HOME/.claude.json") == \
        '["works",true,null,null]' ]] || fail "the state is $(cat "$HOME/.claude.json")"
    equal "$HOME/.claude/projects/p/s.jsonl" "line works"
    equal "$HOME/.claude/.credentials.json" "\"token works\""
    [[ $(jq -c '[.permissions.deny[0], .hooks, .theme]' "$HOME/.claude/settings.json") == '["x",null,"dark"]' ]] ||
        fail "the settings are $(cat "$HOME/.claude/settings.json")"
    absent "$HOME/.claude/skills"
    absent "$HOME/.claude/hooks"
    absent "$HOME/.claude/shell-snapshots"
    told again
    out_has '"n": "works"'
    equal "$HOME/.claude/projects/p/s.jsonl" $'line works\nline again'
    equal "$HOME/.claude/history.jsonl" $'typed works\ntyped again'
    equal "$HOME/.claude/.credentials.json" "\"token again\""
    present "$HOME"/.local/state/unwrite/home-*/tree/.claude/hooks/h.sh
    end
}

S43_a_run_can_hide_the_home_directory() {
    at_home claude '
        find ~ -mindepth 1 -not -path "*/.unwrite*" -not -path "*/src/*" | sort
        cat ~/.claude.json; echo {\"n\": \"new\"} >~/.claude.json
        mkdir -p ~/.claude/projects/p; echo line >>~/.claude/projects/p/s.jsonl
        git config --file ~/.gitconfig user.name; mine
        echo made >made'
    mkdir -p "$HOME"/{.ssh,.config/{gh,git},.claude,Documents,tools/bin,.aws}
    echo secret | tee "$HOME"/{.ssh/id,.config/gh/hosts.yml,Documents/tax,.netrc,.aws/credentials} >/dev/null
    echo '{"n": "old"}' >"$HOME/.claude.json"
    git config --file "$HOME/.gitconfig" user.name "Ada"
    printf '#!/bin/sh\necho my own program\n' >"$HOME/tools/bin/mine"
    chmod +x "$HOME/tools/bin/mine"
    export PATH=$HOME/tools/bin:$PATH
    in_sight="$in_sight --hide-home" told x
    out_has '{"n": "old"}'
    out_has "Ada"
    out_has "my own program"
    for hidden in secret .ssh gh Documents .netrc .aws; do out_lacks "$hidden"; done
    equal made made
    equal "$HOME/.claude.json" '{"n": "new"}'
    equal "$HOME/.claude/projects/p/s.jsonl" line
    equal "$HOME/Documents/tax" secret
    say "what the user names is shown as well, also a part of a directory"
    u run --require-confinement $in_sight --hide-home --show "$HOME/.config/gh" --show "$HOME/.netrc" --on-exit keep -- \
        sh -c 'cat ~/.config/gh/hosts.yml ~/.netrc; ls ~/.config; ! ls ~/.ssh 2>&1'
    out_has secret
    say "what cannot be done is refused before anything runs"
    expect 2 run --show "$HOME/.ssh" -- touch ran
    expect 2 run --hide-home --show /etc -- touch ran
    err_has "is not below your home directory"
    expect 2 run --hide-home --show "$HOME/no/such" -- touch ran
    expect 2 run --hide-home --no-confine -- touch ran
    absent ran
    end
}

S43_each_agents_places() {
    at_home codex '
        mkdir -p ~/.codex/{sessions,skills/.system,app-server-control,rules}
        echo "$1" >~/.codex/sessions/r.jsonl
        printf "model = \"m\"\n[projects.\"%s\"]\ntrust_level = \"trusted\"\n[hooks]\nstop = \"evil\"\n" "$PWD" >~/.codex/c && mv ~/.codex/c ~/.codex/config.toml
        echo "{}" >~/.codex/auth.json; echo db >~/.codex/state_5.sqlite; echo x >~/.codex/hooks.json; echo x >~/.codex/rules/r
        echo x >~/.codex/skills/.system/s; ln -s /tmp/codex-daemon ~/.codex/app-server-control/socket
        echo "$@" >arguments'
    mkdir -p "$HOME/.codex"
    echo '# mine' >"$HOME/.codex/config.toml"
    told exec -s workspace-write
    grep -q -- '--disable daemon_auto_start -c sandbox_mode="danger-full-access" exec$' arguments || fail "$(cat arguments)"
    equal "$HOME/.codex/sessions/r.jsonl" --disable
    equal "$HOME/.codex/auth.json" "{}"
    equal "$HOME/.codex/state_5.sqlite" db
    grep -q 'trust_level = "trusted"' "$HOME/.codex/config.toml" || fail "no trust: $(cat "$HOME/.codex/config.toml")"
    ! grep -q evil "$HOME/.codex/config.toml" || fail "a hook was planted"
    grep -q '# mine' "$HOME/.codex/config.toml" || fail "the user's comment is gone"
    local name
    for name in hooks.json rules skills app-server-control; do absent "$HOME/.codex/$name"; done
    expect 2 run --on-exit keep -- codex exec --sandbox read-only
    say "a database that another process has open stays its own"
    exec 7>>"$HOME/.codex/state_5.sqlite"
    sed -i 's/echo db/echo newer/' "$scratch/bin/codex"
    told exec
    equal "$HOME/.codex/state_5.sqlite" db
    exec 7>&-
    say "gemini and opencode"
    printf '#!/bin/bash\nset -eu\nmkdir -p ~/.gemini/tmp/p ~/.gemini/extensions/e; echo chat >~/.gemini/tmp/p/c; echo x >~/.gemini/extensions/e/x
        echo "{\\"$PWD\\": \\"TRUST_FOLDER\\", \\"/\\": \\"TRUST_FOLDER\\"}" >~/.gemini/trustedFolders.json
        ! echo evil >~/.gemini/tmp/bin/rg\n' >"$scratch/bin/gemini"
    printf '#!/bin/bash\nset -eu\nd=~/.local/share/opencode; echo db >$d/opencode.db; mkdir -p $d/snapshot/s ~/.config/opencode/plugin
        echo evil >$d/snapshot/s/config; echo evil >~/.config/opencode/plugin/p.js; ! echo evil >$d/bin/rg\n' >"$scratch/bin/opencode"
    chmod +x "$scratch/bin/"*
    agent=gemini told
    equal "$HOME/.gemini/tmp/p/c" chat
    equal "$HOME/.gemini/trustedFolders.json" "$(printf '{\n  "%s": "TRUST_FOLDER"\n}' "$W")"
    absent "$HOME/.gemini/extensions"
    absent "$HOME/.gemini/tmp/bin/rg"
    agent=opencode told
    equal "$HOME/.local/share/opencode/opencode.db" db
    absent "$HOME/.local/share/opencode/snapshot/s"
    absent "$HOME/.config/opencode/plugin"
    absent "$HOME/.local/share/opencode/bin/rg"
    end
}

S43_what_is_written_elsewhere_at_home_is_named() {
    at_home tool '
        echo x >~/.config/tool/state; echo x >~/.toolrc; echo alias >>~/.bashrc; echo typed >>~/.bash_history; mv ~/.list.new ~/.list
        mkdir -p ~/.npm/c; echo x >~/.npm/c/1
        ! echo x >~/documents/d 2>/dev/null; cat ~/documents/d ~/.bashrc'
    mkdir -p "$HOME/.config/tool" "$HOME/documents" "$HOME/.npm"
    echo letter >"$HOME/documents/d"
    echo set >"$HOME/.bashrc"
    echo new >"$HOME/.list.new"
    say "an unknown program can write there, in a copy of its own"
    told
    out_has letter
    out_has alias
    err_has "not kept:"
    err_has "~/.config/tool (1 file)"
    err_has "~/.bashrc (1 file)"
    err_has "--caches keeps them"
    err_has "hint: unwrite run --write ~/.bashrc"
    say "the history of a shell ends with the run, and is not worth a word"
    ! grep -q bash_history "$scratch/err" || fail "it names the history of the shell"
    absent "$HOME/.bash_history"
    equal "$HOME/.bashrc" set
    absent "$HOME/.toolrc"
    absent "$HOME/.list"
    absent "$HOME/.npm/c"
    present "$HOME/.list.new"
    equal "$HOME"/.local/state/unwrite/home-*/tree/.bashrc $'set\nalias'
    say "and the same in JSON"
    u --json run --require-confinement $in_sight --write "$scratch/bin" --on-exit keep -- tool
    sed -n '/^{/p' "$scratch/out" >"$scratch/json" && mv "$scratch/json" "$scratch/out"
    json '".bashrc" in j["home"]["elsewhere"] and j["home"]["decides"] == [] and j["home"]["cached"] == 1'
    json '"/unwrite/home-" in j["home"]["copy"]'
    say "an agent that is not known is a mistake"
    expect 2 run --agent nobody -- true
    err_has "the agents are claude, codex, gemini, opencode"
    say "and for good where it was told to"
    u run --on-exit keep --write "$HOME/.config/tool" -- sh -c 'echo more >>~/.config/tool/state'
    equal "$HOME/.config/tool/state" more
    end
}

S43_a_killed_run_leaves_the_real_files_whole() {
    at_home claude '
        mkdir -p ~/.claude/projects; echo begun >>~/.claude/projects/s.jsonl
        printf "{\"n\": " >~/.claude.json; : >~/.claude/.credentials.json; echo $$ >ready; sleep 60'
    mkdir -p "$HOME/.claude"
    echo '{"n": 1}' >"$HOME/.claude.json"
    echo token >"$HOME/.claude/.credentials.json"
    killed run
    equal "$HOME/.claude.json" '{"n": 1}'
    equal "$HOME/.claude/.credentials.json" token
    equal "$HOME/.claude/projects/s.jsonl" begun
    end
}

# killed PART: a run of the agent, of which this process is killed when it is ready: run, guard, inside (of the walls).
# Everything has ended afterwards. What it says is in $scratch/err.
killed() {
    rm -f "$W/ready"
    "$program" run --on-exit keep --write "$scratch/bin" -- claude >"$scratch/err" 2>&1 </dev/null &
    local run=$! guard inside all
    until [[ -s $W/ready ]]; do sleep 0.05; done
    guard=$(pgrep -P "$run")
    inside=$(pgrep -P "$guard")
    all=$(pgrep -f "$scratch/bin/claude" || true)
    say "$1 is killed"
    kill -KILL "${!1}"
    wait "$run" 2>/dev/null || true
    local pid tries=0
    for pid in $guard $inside $all; do
        while kill -0 "$pid" 2>/dev/null; do ((++tries < 400)) || fail "$pid goes on"; sleep 0.05; done
    done
    cat "$scratch/err"
}

S43_what_an_agent_gained_survives_a_killed_run() {
    at_home claude '
        trap "" TERM HUP
        mkdir -p ~/.claude/hooks; echo evil >~/.claude/hooks/h.sh
        jq -n --arg here "$PWD" --arg n "$(cat n)" \
            "{n: \$n, projects: {(\$here): {hasTrustDialogAccepted: true}}, mcpServers: {evil: {command: \"sh\"}}}" >~/c
        mv ~/c ~/.claude.json
        echo "{\"token\": \"$(cat n)\"}" >~/c; mv ~/c ~/.claude/.credentials.json
        echo more >>f
        echo $$ >ready
        while :; do sleep 0.2; done'
    needs jq
    local part
    for part in run guard inside; do
        echo "$part" >n
        killed "$part"
        equal "$HOME/.claude/.credentials.json" "{\"token\": \"$part\"}"
        [[ $(jq -c "[.n, .projects[\"$W\"].hasTrustDialogAccepted, .mcpServers]" "$HOME/.claude.json") == \
            "[\"$part\",true,null]" ]] || fail "the state is $(cat "$HOME/.claude.json")"
        absent "$HOME/.claude/hooks"
        err_has "They are not kept."
        [[ $(grep -c "claude keeps its state" "$scratch/err") == 1 ]] || fail "it says something twice"
        u undo
        equal f old
    done
    end
}

S43_an_agent_of_the_configuration() {
    at_home tool '
        mkdir -p ~/.tool/sessions ~/.toolcache
        echo "line $*" >>~/.tool/sessions/s; echo "{\"token\": \"$TOOL_MODE\"}" >~/.tool.json; echo x >~/.toolcache/x
        echo evil >>~/.bashrc; echo x >~/.config/unwrite/unwrite.toml'
    mkdir -p "$XDG_CONFIG_HOME/unwrite"
    cat >"$XDG_CONFIG_HOME/unwrite/unwrite.toml" <<'END'
[agents.tool]
state = ["~/.tool"]
keep = ["~/.tool.json"]
options = ["--quiet"]
environment = { TOOL_MODE = "a" }
END
    cp "$XDG_CONFIG_HOME/unwrite/unwrite.toml" "$scratch/before"
    told x
    err_has "tool keeps its state in ~/.tool, ~/.tool.json"
    err_has "tool is started with --quiet"
    equal "$HOME/.tool/sessions/s" "line --quiet x"
    equal "$HOME/.tool.json" '{"token": "a"}'
    err_has "~/.toolcache (1 file)"
    absent "$HOME/.toolcache"
    absent "$HOME/.bashrc"
    cmp "$XDG_CONFIG_HOME/unwrite/unwrite.toml" "$scratch/before"
    say "what is set in the environment stays"
    TOOL_MODE=b told x
    equal "$HOME/.tool.json" '{"token": "b"}'
    say "by name, where the program is another one"
    u run --on-exit keep --agent tool -- sh -c 'echo by name >~/.tool/n'
    equal "$HOME/.tool/n" "by name"
    expect 2 run --agent nobody -- true
    err_has "the agents are claude, codex, gemini, opencode, tool"
    say "a mistake is named with its line, and nothing is run"
    echo 'state = ["/etc"]' | sed -i '2r /dev/stdin' "$XDG_CONFIG_HOME/unwrite/unwrite.toml"
    sed -i '2d' "$XDG_CONFIG_HOME/unwrite/unwrite.toml"
    expect 2 run --on-exit keep -- touch made
    err_has "unwrite.toml:2: bad value for \`agents.tool.state\`"
    absent made
    say "what a workspace says of agents has no effect"
    cp "$scratch/before" "$XDG_CONFIG_HOME/unwrite/unwrite.toml"
    end
    printf '[agents.tool]\nstate = ["~/.toolcache"]\n' >"$W/.unwrite/config.toml"
    begin
    u config
    out_lacks toolcache
    out_has 'agents.tool.state = ["~/.tool"]'
    told x
    absent "$HOME/.toolcache"
    end
}
