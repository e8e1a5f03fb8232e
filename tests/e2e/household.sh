# Several mounts, their processes, and a run that goes on.
# shellcheck shell=bash

# goes_on [DIR]: a run without an open file, that ends when it is told to.
goes_on() {
    # shellcheck disable=SC2086
    "$program" -C "${1:-$W}" run $in_sight --on-exit keep -- sh -c 'cd /; echo >"$0/begun"; while [ ! -e "$0/stop" ]; do sleep 0.1; done' \
        "${1:-$W}" >"$scratch/run.log" 2>&1 </dev/null &
    run=$!
    for _ in $(seq 100); do [[ -e ${1:-$W}/begun ]] && return; sleep 0.1; done
    fail "the run did not begin"
}

# listed: what `list` has of this story; on this machine there may be other mounts.
listed() {
    u --json list
    python3 -IS -c 'import json, sys; j = json.load(open(sys.argv[1])); print(json.dumps(
        {"mounts": [m for m in j["mounts"] if m["mount_point"].startswith(sys.argv[2])]}))' "$scratch/out" "$scratch/" >"$scratch/mine"
    mv "$scratch/mine" "$scratch/out"
}

S64_list_shows_every_mount() {
    listed
    json 'j["mounts"] == []'
    begin
    cd /
    mkdir "$scratch/other"
    u --json mount "$scratch/other"
    json_value 'j["pid"]' >>"$scratch/daemons"
    head -c 1M /dev/urandom >"$scratch/other/big"
    u -C "$scratch/other" checkpoint
    head -c 1M /dev/urandom >"$scratch/other/big"
    goes_on
    u list
    out_has "$W: 1 file changed, journal"
    out_has "  running: run-"
    out_has "(sh -c cd /;"
    out_has "$scratch/other: 1 file changed, journal 1"
    listed
    json '[m["mount_point"] for m in j["mounts"]] == ["'"$W"'", "'"$scratch/other"'"]'
    json 'j["mounts"][0]["pid"] == '"$daemon"' and len(j["mounts"][0]["runs"]) == 1 and j["mounts"][1]["runs"] == []'
    json 'j["mounts"][1]["journal_bytes"] > 1 << 20 and j["mounts"][1]["answers"]'
    say "an unmount waits for nobody, and takes nothing from a run"
    expect 1 unmount "$W"
    err_has "run-"
    err_has "still running there"
    is_mounted "$W"
    touch "$W/stop"
    wait "$run"
    u unmount "$W"
    u unmount "$scratch/other"
}

S64_an_unmount_can_be_forced_under_a_run() {
    begin
    goes_on
    cd /
    expect 1 unmount "$W"
    u unmount "$W" --force
    ! is_mounted "$W"
    kill "$run"
    wait "$run" || true
    rm "$W/begun"
}

S167_a_run_that_was_killed_has_ended_for_the_daemon() {
    begin
    goes_on
    cd /
    listed
    json 'len(j["mounts"][0]["runs"]) == 1'
    kill -KILL "$run"
    wait "$run" 2>/dev/null || true
    for _ in $(seq 80); do listed && [[ $(json_value 'len(j["mounts"][0]["runs"])') == 0 ]] && break; sleep 0.1; done
    json 'j["mounts"][0]["runs"] == []'
    u -C "$W" --json log
    json 'any(e["node"]["kind"] == "run" for e in j["entries"])'
    u unmount "$W"
}

# What pkill(1) would end: by the command line, and by the short name.
S64_a_daemon_is_not_ended_with_the_agent() {
    mkdir "$scratch/bin" "$scratch/claude-project" "$scratch/.claude" "$scratch/.claude/tree"
    printf '#!/bin/sh\necho agent >made\n' >"$scratch/bin/claude"
    chmod 755 "$scratch/bin/claude"
    local directory
    for directory in "$W" "$scratch/claude-project" "$scratch/.claude/tree"; do
        cd "$directory"
        # shellcheck disable=SC2086
        PATH=$scratch/bin:$PATH u run $in_sight --no-confine -- claude
        cd /
        listed
        daemon=$(json_value 'j["mounts"][0]["pid"]')
        echo "$daemon" >>"$scratch/daemons"
        ! tr '\0' ' ' <"/proc/$daemon/cmdline" | grep -qi claude || fail "its words: $(tr '\0' ' ' <"/proc/$daemon/cmdline")"
        ! grep -qi claude "/proc/$daemon/comm" || fail "its name: $(<"/proc/$daemon/comm")"
        [[ $(<"/proc/$daemon/comm") == "unwrite: "* ]] || fail "its name: $(<"/proc/$daemon/comm")"
        [[ $(tr -d '\0' <"/proc/$daemon/cmdline") == "unwrite: "* ]] || fail "its words"
        u unmount "$directory"
    done
}

S64_status_of_what_is_not_mounted() {
    echo one >"$W/a"
    begin
    u status
    out_has "No changes"
    end
    echo two >"$W/a"
    u -C "$W" status
    out_has "Not mounted since 20"
    out_has "not recorded"
    out_lacks "No changes"
    u -C "$W" --json status
    json 'j["mounted"] is False and j["unmounted_ns"] > 0'
    begin
    echo three >b
    end
    u -C "$W" status
    out_has "Not mounted since 20"
    out_has "Created 1 file"
}

S55_S61_a_run_that_did_nothing_says_so() {
    begin
    # shellcheck disable=SC2086
    "$program" run $in_sight --on-exit keep -- sh -c 'cd /; sleep 3' >"$scratch/out" 2>"$scratch/err" </dev/null &
    run=$!
    sleep 1.5
    echo mine >a
    echo mine >b
    wait "$run"
    err_has "Nothing was changed by this run. Meanwhile others changed files:"
    err_has "2 files by you"
    # shellcheck disable=SC2086
    u run $in_sight --on-exit keep -- sh -c 'echo agent >c'
    ! grep -q "Nothing was changed by this run" "$scratch/err" || fail "it made a file"
    end
}

S76_S167_git_unmounted_has_the_umask_of_the_user() {
    needs git
    git init -q -b main "$W"
    git -C "$W" config user.name story
    git -C "$W" config user.email story@example.invalid
    echo one >"$W/f"
    git -C "$W" add f
    git -C "$W" commit -qm first
    printf '#!/bin/sh\numask >"%s"\nulimit -Sn >>"%s"\n' "$scratch/hook" "$scratch/hook" >"$W/.git/hooks/pre-commit"
    chmod +x "$W/.git/hooks/pre-commit"
    begin
    mkdir new
    echo two | tee f >new/g
    end
    umask 027
    ulimit -Sn 256
    u -C "$W" commit --git -m two --yes
    [[ $(git -C "$W" log -1 --format=%s) == two ]] || fail "nothing was committed"
    equal "$scratch/hook" $'0027\n256'
    [[ $(stat -c %a "$W/.git/index") == 640 ]] || fail "the index has mode $(stat -c %a "$W/.git/index")"
    local wide
    wide=$(find "$W/.git/objects" -mindepth 1 -newer "$W/f" -perm /007)
    [[ -z $wide ]] || fail "open to everybody: $wide"
}

S64_S167_a_state_directory_of_an_agent_hides_nothing() {
    mkdir -p "$XDG_CONFIG_HOME/unwrite" "$W/sub/plain"
    printf '[policy]\nprofile = "none"\n' >"$XDG_CONFIG_HOME/unwrite/unwrite.toml"
    echo old >"$W/sub/f"
    begin
    u run --on-exit keep -- sh -c 'echo new >sub/f
        mkdir -m 700 sub/.unwrite sub/.unwrite/attic sub/.unwrite/deltas sub/plain/.unwrite
        echo "unwrite state 1" >sub/.unwrite/VERSION'
    local place
    for place in sub sub/plain; do
        u -C "$place" status
        out_has "sub/f"
        u -C "$place" diff
        out_has "+new"
    done
    u -C sub undo
    equal sub/f old
    u redo
    end
    say "without a mount only what is a state directory counts"
    u -C "$W/sub/plain" log
    rm -r "$W/sub/.unwrite"
    u -C "$W/sub/plain" status
    out_has "sub/f"
}
