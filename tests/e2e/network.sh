# `run --network model`: the command reaches the endpoints of its agent and nothing else.
# shellcheck shell=bash

# serves NAME: a server on this machine's loopback that answers NAME; its port is in $port, what it was asked for in $scratch/NAME.
serves() {
    needs python3
    cat >"$scratch/server.py" <<'PYTHON'
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        open(sys.argv[2], "a").write(f"{self.path} {self.headers['Host']}\n")
        self.send_response(200)
        self.end_headers()
        self.wfile.write(sys.argv[1].encode())
    def log_message(self, *words):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
open(sys.argv[2] + ".port", "w").write(f"{server.server_port}\n")
server.serve_forever()
PYTHON
    : >"$scratch/$1"
    python3 -I "$scratch/server.py" "$1" "$scratch/$1" </dev/null >/dev/null 2>&1 &
    local tries=0
    until [[ -s $scratch/$1.port ]]; do ((++tries < 400)) || fail "no server"; sleep 0.05; done
    port=$(<"$scratch/$1.port")
}
# begin_network: a mounted workspace, the client in it, a server for the model and another one.
begin_network() {
    cp "$here/network_client.py" "$W/"
    serves model
    model=$port
    serves other
    other=$port
    begin
    "$program" run --network none --on-exit keep -- true 2>"$scratch/err" ||
        skip "this machine does not allow it: $(cat "$scratch/err")"
}
client() { "$program" run --network model "$@" </dev/null >"$scratch/out" 2>"$scratch/err" || fail "it ended with $?: $(cat "$scratch/err")"; }

S167_a_run_reaches_its_model_and_nothing_else() {
    begin_network
    export ANTHROPIC_BASE_URL=http://127.0.0.1:$model NO_PROXY='*' https_proxy=http://192.0.2.1:1
    client --agent claude --on-exit keep -- python3 network_client.py \
        get "$ANTHROPIC_BASE_URL/v1" tunnel "127.0.0.1:$model" plain "$ANTHROPIC_BASE_URL/v2" \
        get "http://127.0.0.1:$other/" past "127.0.0.1:$other" past "127.0.0.1:9" \
        tunnel "127.0.0.1:$other" plain "http://127.0.0.1:$other/" plain "http://localhost:$other/" \
        tunnel "localhost:$model" tunnel registry.example:443 tunnel registry.example:443 \
        tunnel "[::1]:$other" tunnel "API.anthropic.com.:80" \
        raw 'CONNECT \r\n\r\n' raw 'GET / HTTP/1.1\r\n\r\n' raw "CONNECT 127.0.0.1:$model\\x00 HTTP/1.1\\r\\n\\r\\n"
    cat "$scratch/out" "$scratch/err"
    out_has "get $ANTHROPIC_BASE_URL/v1: model"
    out_has "tunnel 127.0.0.1:$model: model"
    out_has "plain $ANTHROPIC_BASE_URL/v2: model"
    [[ $(grep -c ": no (ConnectionRefusedError)\|: no (URLError)" "$scratch/out") == 3 ]] || fail "it got past the proxy"
    [[ $(grep -c ": 403$" "$scratch/out") == 8 ]] || fail "not all were refused"
    [[ $(grep -c ": 400$" "$scratch/out") == 3 ]] || fail "not all were refused"
    [[ ! -s $scratch/other ]] || fail "the other server was reached: $(cat "$scratch/other")"
    grep -qx "/v2 127.0.0.1:$model" "$scratch/model" || fail "the model was told: $(cat "$scratch/model")"
    say "the end of the run names it"
    err_has "the command reaches on the network api.anthropic.com"
    err_has "Network: 127.0.0.1:$model 3 connections, "
    err_has "registry.example (2)"
    err_has "hint: unwrite run --network model --endpoint 127.0.0.1:$other lets the next run reach it"
    local log
    log=$(echo "$HOME"/.local/state/unwrite/network-*.log)
    err_has "Each connection is listed in $log."
    cat "$log"
    [[ $(grep -c "  allowed  127.0.0.1:$model  sent [1-9][0-9]*  received [1-9]" "$log") == 3 ]] || fail "not in the list"
    [[ $(grep -c "  refused  registry.example$" "$log") == 2 ]] || fail "not in the list"
    [[ $(stat -c %a "$log") == 600 ]] || fail "others can read it"
    say "as JSON"
    u --json run --network model --agent claude --on-exit keep -- python3 network_client.py get "$ANTHROPIC_BASE_URL/" tunnel x.example:443
    tail -n 1 "$scratch/out" >"$scratch/last" && mv "$scratch/last" "$scratch/out"
    json "j['network']['allowed'][0]['connections'] == 1 and j['network']['refused'][0]['endpoint'] == 'x.example'"
    say "a run in which nothing was asked for says nothing"
    u run --network model --agent claude --on-exit keep -- true
    ! grep -q "Network:\|listed in" "$scratch/err" || fail "$(cat "$scratch/err")"
    end
}

S167_a_run_without_endpoints_is_refused() {
    begin_network
    expect 2 run --network model -- touch ran
    err_has "hint: "
    err_has "--endpoint api.example.com"
    absent ran
    expect 2 run --network model --endpoint "http://x" -- touch ran
    expect 2 run --endpoint example.com -- touch ran
    err_has "for --network model only"
    expect 2 run --network model --no-confine --endpoint example.com -- touch ran
    absent ran
    client --endpoint "localhost:$model" --on-exit keep -- python3 network_client.py get "http://localhost:$model/" get "http://127.0.0.1:$model/"
    [[ $(grep -c ": model$" "$scratch/out") == 2 ]] || fail "not reached: $(cat "$scratch/out" "$scratch/err")"
    say "the user's own configuration may name them"
    mkdir -p "$XDG_CONFIG_HOME/unwrite"
    printf '[agents.mine]\nendpoints = ["127.0.0.1:%s"]\n' "$model" >"$XDG_CONFIG_HOME/unwrite/unwrite.toml"
    client --agent mine --on-exit keep -- python3 network_client.py get "http://127.0.0.1:$model/" tunnel "127.0.0.1:$other"
    out_has "/: model"
    out_has ": 403"
    say "that of the workspace may not"
    rm "$XDG_CONFIG_HOME/unwrite/unwrite.toml"
    end
    printf '[agents.claude]\nendpoints = ["127.0.0.1:%s"]\n' "$model" >"$W/.unwrite/config.toml"
    begin
    client --agent claude --on-exit keep -- python3 network_client.py get "http://127.0.0.1:$model/" tunnel "127.0.0.1:$model"
    out_has "/: no"
    out_has ": 403"
    end
}

# Whoever answers for a name of the table must not lead the agent to a service of this machine.
S167_a_name_that_leads_to_this_machine_is_refused() {
    needs_root "to mount a file over /etc/hosts"
    needs unshare
    begin_network
    echo "127.0.0.1 api.anthropic.com" >"$scratch/hosts"
    # led OPTION...: a run in which that name leads to this machine.
    led() {
        unshare -m bash -c 'mount --bind "$scratch/hosts" /etc/hosts && exec "$@"' led "$program" run --network model --agent claude \
            --on-exit keep "$@" -- python3 network_client.py tunnel api.anthropic.com:443 >"$scratch/out" 2>"$scratch/err" </dev/null ||
            fail "it ended with $?: $(cat "$scratch/err")"
    }
    led
    out_has ": 403"
    err_has "Network: refused: api.anthropic.com (1)"
    grep -q "refused  api.anthropic.com  (its name leads to an address of this machine" "$HOME"/.local/state/unwrite/network-*.log ||
        fail "the list does not say why"
    say "a name that the user gave may lead there; nobody listens at that port"
    led --endpoint api.anthropic.com
    out_has ": 502"
    err_has "Network: not reached: api.anthropic.com (1)"
    end
}

# gone PID...: within some seconds.
gone() {
    local pid tries=0
    for pid; do
        while [[ -d /proc/$pid ]] && ! grep -q "^State:.Z" "/proc/$pid/status" 2>/dev/null; do
            ((++tries < 200)) || fail "process $pid goes on: $(tr '\0' ' ' <"/proc/$pid/cmdline")"
            sleep 0.05
        done
    done
}
S167_the_proxy_ends_with_its_run() {
    begin_network
    local run children log
    for signal in KILL TERM; do
        rm -f ready
        "$program" run --network model --endpoint "127.0.0.1:$model" --on-exit keep -- \
            bash -c 'exec 3<>/dev/tcp/127.0.0.1/"$0"; echo -n x >&3; touch ready; sleep 300' "$model" </dev/null >/dev/null 2>&1 &
        run=$!
        for _ in $(seq 400); do [[ -e ready ]] && break; sleep 0.05; done
        present ready
        children=$(cat "/proc/$run/task/$run/children")
        [[ $(wc -w <<<"$children") == 2 ]] || fail "there are other processes than the guard and the proxy: $children"
        sleep 0.3
        kill -$signal $run
        # shellcheck disable=SC2086
        gone $run $children
        wait $run || true
        say "SIG$signal: a connection that was open is in the list"
        log=$(ls -t "$HOME"/.local/state/unwrite/network-*.log | head -n 1)
        grep -q "  allowed  127.0.0.1:$model  sent 1  received " "$log" || fail "$(cat "$log")"
        rm "$log"
    done
    end
}

S75_S167_a_user_without_privileges_reaches_the_model_only() {
    cp "$here/network_client.py" "$W/"
    serves model
    export model=$port
    serves other
    export other=$port
    as_nobody <<'SCRIPT'
"$program" mount "$W"
cd "$W"
"$program" run --network none --on-exit keep -- true || { cd /; "$program" unmount "$W"; echo "this machine does not allow it to users"; exit 77; }
"$program" run --network model --endpoint "127.0.0.1:$model" --on-exit keep -- python3 network_client.py get "http://127.0.0.1:$model/" \
    tunnel "127.0.0.1:$other" past "127.0.0.1:$other" >out
grep ": model$" out
grep ": 403$" out
grep ": no (" out
cd /
"$program" unmount "$W"
SCRIPT
}
