# The tools of an agent: `unwrite mcp` as its clients speak to it (tools_client.py, approving_client.py, owners_client.py,
# foreign_client.py, killed_client.py, racing_client.py, answers_client.py, advice_client.py, rollback_client.py,
# judged_client.py), and read, edit and apply.
# shellcheck shell=bash

client() { python3 "$here/tools_client.py" "$@"; }

S1_S2_S3_S8_S18_S33_S34_S35_S36_S38_S129_S148_S149_S150_S151_S153_S154_S162_tools_in_both_eras() {
    begin
    client both_eras "$program" "$W"
    cd /
}

S132_S140_both_halves_of_every_answer() {
    begin
    python3 "$here/answers_client.py" both_halves "$program" "$W"
    cd /
}

S140_S155_S160_errors_that_say_what_to_do() {
    small_disk 64M
    begin
    python3 "$here/answers_client.py" to_act_on "$program" "$W" "$daemon"
    cd /
}

S132_S140_S163_advice_that_can_be_followed() {
    mkdir -m 700 "$W/.unwrite"
    mkdir "$W/hidden"
    for rule in hidden/**=hide asked/**=ask kept=deny-write; do
        printf '[[policy.rule]]\npattern = "%s"\naction = "%s"\n' "${rule%=*}" "${rule#*=}"
    done >"$W/.unwrite/config.toml"
    tee "$W/hidden/secret" "$W/kept" <<<x
    begin
    python3 "$here/advice_client.py" all_of_it "$program" "$W"
    cd /
}

S132_a_server_with_a_wrong_configuration_says_so_in_each_answer() {
    begin
    mkdir -p "$XDG_CONFIG_HOME/unwrite"
    echo 'nonsense = 1' >"$XDG_CONFIG_HOME/unwrite/unwrite.toml"
    python3 "$here/advice_client.py" wrong_configuration "$program" "$W"
    expect 2 mcp --approval nobody
    cd /
}

rolls_back() {
    begin
    python3 "$here/rollback_client.py" "$1" "$program" "$W"
    cd /
    check_state
}
S57_a_bare_rollback_goes_to_the_newest_checkpoint_of_a_connection() { rolls_back bare; }
S60_a_rollback_names_whose_work_it_would_take_along() { rolls_back others; }
S60_a_rollback_in_a_run_leaves_the_work_of_others_to_the_user() { rolls_back in_a_run; }

S16_S141_an_edit_keeps_hard_links() {
    observed "with passthrough an edit replaces the file"
    begin
    python3 "$here/owners_client.py" names "$program" "$W"
    cd /
    end
    check_state
}

S16_S21_S141_an_edit_keeps_owner_and_mode_or_says_why_not() {
    echo one >"$W/group"
    chgrp 7 "$W/group"
    export here
    as_nobody <<'SCRIPT'
"$program" mount "$W"
python3 "$here/owners_client.py" owners "$program" "$W"
"$program" unmount "$W"
SCRIPT
}

S10_S142_S143_the_mount_judges_the_tools() {
    mkdir -m 700 "$W/.unwrite"
    {
        printf '[[policy.rule]]\npattern = "asked/**"\naction = "ask"\n'
        for path in kept other; do printf '[[policy.rule]]\npattern = "%s"\naction = "deny-write"\n' "$path"; done
    } >"$W/.unwrite/config.toml"
    mkdir -p "$XDG_CONFIG_HOME/unwrite"
    printf '[[policy.rule]]\npattern = "gen/**"\naction = "deny-write"\n[[policy.rule]]\npattern = "!gen/yes"\n' >"$XDG_CONFIG_HOME/unwrite/unwrite.toml"
    printf 'one\n' >"$W/kept"
    printf 'one\n' >"$W/other"
    printf 'SECRET=1\n' >"$W/.env"
    git init -q "$W"
    begin
    python3 "$here/judged_client.py" judged_in_a_run "$program" "$W"
    python3 "$here/judged_client.py" judged "$program" "$W"
    say "the user's own edits are judged as the user's"
    u edit other --old one --new 1
    equal other 1
    cd /
    check_state
}

S2_S131_any_input_has_an_answer() {
    begin
    client protocol "$program" "$W"
    cd /
}

S3_S28_S143_approval() {
    begin
    python3 "$here/approving_client.py" approval "$program" "$W"
    cd /
}

# Each point of an edit and of its Undo, and each of those who may come next; in three parts, for the time it takes.
killed_and_made_whole() {
    begin
    python3 "$here/killed_client.py" killed "$program" "$W" "$daemon" 3 "$1"
    cd /
    check_state
}
S15_S24_S37_S145_S159_killed_at_each_point_of_an_edit() { killed_and_made_whole 0; }
S15_S24_S37_S145_S159_killed_and_mounted_again() { killed_and_made_whole 1; }
S15_S24_S37_S145_S159_killed_and_recovered() { killed_and_made_whole 2; }

at_every_system_call() {
    strace -qq -o /dev/null -e inject=getuid:signal=KILL:when=1 true 2>/dev/null || skip "strace cannot inject signals here"
    begin
    python3 "$here/killed_client.py" "$1" "$program" "$W" "$scratch/calls"
    cd /
    check_state
}
S15_S24_S37_S159_killed_at_every_system_call_of_an_edit() { at_every_system_call killed_at_calls; }
S15_S24_S145_S159_a_signal_at_every_system_call_of_an_edit() { at_every_system_call signalled_at_calls; }

S15_S24_S37_S159_the_daemon_dies_at_any_point_of_an_edit() {
    python3 "$here/killed_client.py" daemon_killed "$program" "$W" "$scratch/passed"
    check_state
}

S89_S90_S91_S93_S94_S95_S97_S100_S102_S103_S105_S106_revert_to_state() {
    begin
    client reverting "$program" "$W"
    say "by the user"
    echo before >mine
    u checkpoint here
    echo after >mine
    u revert-to-state failure "$(u --json log >/dev/null; json_value '"n%d" % j["current"]')" --summary 'not so'
    equal mine before
    u log
    out_has "[lesson] not so"
    expect 3 revert-to-state
    expect 2 revert-to-state failure n
    expect 4 revert-to-state tangent n99999
    cd /
    end
    check_state
}

S141_S152_T_SFE_ATOM_01_no_reader_sees_a_part() {
    begin
    client reader "$program" "$W"
    cd /
}

S66_S160_what_others_write_must_be_read_again() {
    begin
    python3 "$here/foreign_client.py" foreign_writes "$program" "$W"
    cd /
}

# A minute if UNWRITE_LONG is set.
beside_writers() {
    begin
    local seconds=9
    [[ -z ${UNWRITE_LONG:-} ]] || seconds=60
    python3 "$here/racing_client.py" "$1" "$program" "$W" "$seconds"
    cd /
    check_state
}
S66_S141_S160_no_line_of_another_program_is_lost() { beside_writers appended; }
S15_S66_S141_no_line_is_lost_if_an_edit_is_killed() { beside_writers killed; }

S15_S145_interrupted_means_whole_or_nothing() {
    begin
    python3 "$here/racing_client.py" interrupted "$program" "$W"
    cd /
    check_state
}

S15_S66_S145_S160_an_edit_that_fails_half_way_leaves_what_was() {
    printf 'one\ntwo\n' >"$W/kept.db"
    begin
    python3 "$here/foreign_client.py" put_back "$program" "$W"
    cd /
}

# Clients hand on few variables of their environment.
S39_a_daemon_whose_socket_lies_elsewhere() {
    mkdir -m 700 "$scratch/there"
    XDG_RUNTIME_DIR=$scratch/there begin
    cd /
    expect 6 -C "$W" status
    err_has "its socket is not found"
    err_has "set XDG_RUNTIME_DIR"
    export XDG_RUNTIME_DIR=$scratch/there
    u -C "$W" status
    kill -KILL "$daemon"
    # shellcheck disable=SC2016
    timeout 20 bash -c 'while stat -f "$1" >/dev/null 2>&1; do sleep 0.05; done' - "$W"
    expect 6 -C "$W" status
    err_has "its daemon is gone"
}

S39_a_daemon_that_dies() {
    begin
    cd /
    client dead "$program" "$W" "$daemon"
}

S132_S138_S153_S154_S158_read_edit_and_apply() {
    begin
    printf 'one\r\ntwo\r\n' >f
    u read f --start-line 2
    cmp "$scratch/out" <(printf '2\ttwo\n')
    err_has "f: lines 2-2 of 2, newline_kind CRLF, file_hash sha256:"
    u read f --start-line 2 --no-line-numbers
    cmp "$scratch/out" <(printf 'two\r\n')
    u read f
    cmp "$scratch/out" f
    err_has "f: lines 1-2 of 2, newline_kind CRLF, file_hash sha256:"
    u read f --line-numbers
    cmp "$scratch/out" <(printf '1\tone\n2\ttwo\n')
    expect 2 read f --line-numbers --no-line-numbers
    u --json read f --end-line 1
    json 'j["line_numbers"] and j["content"] == "1\tone\n"'
    u --json read f
    json 'not j["line_numbers"] and j["content"] == "one\r\ntwo\r\n"'
    local hash
    hash=$(json_value 'j["file_hash"]')
    expect 0 --json edit f --old two --new zwei --hash "$hash"
    json 'j["status"] == "ok" and j["action"] == "apply_snippet_edit" and j["newline_kind"] == "CRLF"'
    cmp f <(printf 'one\r\nzwei\r\n')
    expect 5 --json edit f --old zwei --new 2 --hash "$hash"
    json 'j["status"] == "stale_file" and j["current_file_hash"] and j["region_id"] is None'
    expect 2 --json edit f --old x --content y
    json 'j["status"] == "error"'
    expect 1 edit missing --old x --new y
    mkdir sub
    cd sub
    u edit ../f --start-line 1 --end-line 1 --content eins
    cmp ../f <(printf 'eins\r\nzwei\r\n')
    cd ..
    u undo
    cmp f <(printf 'one\r\nzwei\r\n')
    say "patches"
    printf 'LP1\nF f\nT\nthree\n.\nF g\nT\nnew\n.\nEND\n' >"$scratch/lp1"
    u apply "$scratch/lp1"
    out_has "created: g"
    cmp f <(printf 'one\r\nzwei\r\nthree\r\n')
    equal g new
    printf -- '--- a/g\n+++ b/g\n@@ -1 +1 @@\n-new\n\\ No newline at end of file\n+newer\n' >"$scratch/diff"
    u apply "$scratch/diff"
    equal g newer
    say "exit codes, and messages that say where"
    expect 5 apply "$scratch/diff"
    err_has "Hunk #1 (line 1) does not match (line 3 of the patch)"
    expect 5 --json apply "$scratch/diff"
    json 'j["status"] == "stale_file" and j["path"] == "g" and j["patch_line"] == 3'
    equal g newer
    printf 'LP1\nF g\nR\nnewe\n.\nx\n.\nEND\n' >"$scratch/lp1"
    expect 1 apply "$scratch/lp1"
    err_has "Match not found (line 3 of the patch)"
    err_has "1: newer"
    printf 'LP1\nF g\nN +\nEND\n' >"$scratch/lp1"
    expect 3 apply "$scratch/lp1"
    expect 3 --json apply "$scratch/lp1"
    json 'j["status"] == "ok" and j["message"] == "No changes applied."'
    head -c 524289 /dev/zero | tr '\0' '#' >"$scratch/large"
    expect 2 apply "$scratch/large"
    err_has "Patch exceeds max_patch_bytes"
    mkdir -p "$XDG_CONFIG_HOME/unwrite"
    printf '[tools.edit]\nenabled = false\n' >"$XDG_CONFIG_HOME/unwrite/unwrite.toml"
    expect 4 apply "$scratch/lp1"
    err_has "tools.edit.enabled"
    python3 "$here/answers_client.py" disabled "$program" "$W"
    rm "$XDG_CONFIG_HOME/unwrite/unwrite.toml"
    equal g newer
    cd /
    end
    expect 6 -C "$W" edit f --old x --new y
}
