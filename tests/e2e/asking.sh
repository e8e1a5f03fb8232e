# Changes that wait for a person's leave, through a real mount.
# shellcheck shell=bash

# asks TIMEOUT: the user's configuration has a rule that asks.
asks() {
    observed "an open is what is asked about elsewhere"
    mkdir -p "$XDG_CONFIG_HOME/unwrite" "$W/asked"
    cat >"$XDG_CONFIG_HOME/unwrite/unwrite.toml" <<END
[policy]
ask_timeout = "$1"
[[policy.rule]]
pattern = "asked/**"
action = "ask"
for = "everyone"
reason = "look first"
END
}
# there: somebody is there to be asked, and reads the questions in $scratch/watched.
there() {
    rm -f "$scratch/there"  # of the last time
    "$program" --json approvals --watch >"$scratch/watched" 2>"$scratch/there" &
    watcher=$!
    until grep -qs Waiting "$scratch/there"; do sleep 0.02; done
}
# open_question PATH [WAITING]: waits until so many requests wait for leave to change it; its number is in $question.
open_question() {
    local i
    for i in $(seq 400); do
        unwrite --json approvals >"$scratch/out"
        question=$(json_value "next((q['number'] for q in j['questions'] if q['state'] == 'open' and q['path'] == '$1'
            and q['waiting'] >= ${2:-1}), 0)")
        [[ $question == 0 ]] || return 0
        sleep 0.02
    done
    cat "$scratch/out" >&2
    fail "nobody waits for leave to change $1"
}
nothing_happened() {
    u --json status
    json 'j["changes"] == []'
    u --json check
    json 'j["records"] == 0'
}

S44_S82_what_asks_waits_for_an_answer() {
    asks 10m
    echo one >"$W/asked/a"
    echo two >"$W/asked/b"
    mkdir "$W/asked/d"
    remember start
    begin
    there
    say "an agent waits; nothing happens meanwhile; the user approves"
    "$program" run --on-exit keep -- sh -c 'echo more >>asked/a && echo again >>asked/a && cat asked/a' >"$scratch/run" 2>&1 &
    local runner=$!
    open_question asked/a
    json "all(q['operation'] == 'write' and q['agent'] and q['reason'].endswith('look first') for q in j['questions'])"
    nothing_happened
    u approve "$question"
    out_has "may change asked/a"
    wait "$runner"
    equal asked/a $'one\nmore\nagain'
    say "the user, another subject, is asked as well, and denied; the next try is not asked about again"
    python3 "$here/asker.py" one write asked/a >"$scratch/one" &
    open_question asked/a
    u deny "$question"
    wait $!
    equal "$scratch/one" $'calls\nEACCES'
    [[ $(python3 "$here/asker.py" one write asked/a) == *EACCES ]]
    say "whatever the call"
    local call
    for call in create unlink rename; do
        local path=asked/b
        [[ $call != create ]] || path=asked/new
        python3 "$here/asker.py" one "$call" "$path" >"$scratch/one" &
        local caller=$!
        # The name that it has may be changed by now; the one that it gets is another question.
        [[ $call != rename ]] || path=asked/b.moved
        open_question "$path"
        u approve "$question"
        wait "$caller"
        equal "$scratch/one" $'calls\ndone'
        [[ $call != unlink ]] || echo two >asked/b
    done
    say "all is in the audit log, with who answered"
    u --json log --audit
    json '[e["event"] for e in j["entries"]][:3] == ["asked", "approved", "asked"]'
    json 'any(e["event"] == "denied" and e["path"] == "asked/a" and e["executable"].endswith("unwrite") for e in j["entries"])'
    say "and the watcher saw the questions come and go"
    grep -q '"state":"open"' "$scratch/watched"
    grep -q '"state":"approved"' "$scratch/watched"
    kill "$watcher"
    u discard --yes
    end
    same start
}
S71_S72_S84_much_to_copy_and_databases_ask() {
    head -c 50M /dev/urandom >"$W/big"
    head -c 20M /dev/urandom >"$W/grows"
    echo database >"$W/old.db"
    remember start
    begin
    say "with nobody there an agent is refused, with EDQUOT, and nothing happens"
    expect 1 run --on-exit keep -- dd if=/dev/zero of=big bs=1M count=50 status=none
    err_has "Disk quota exceeded"
    expect 1 run --on-exit keep -- truncate -s 0 big
    expect 1 run --on-exit keep -- rm old.db
    nothing_happened
    u --json log --audit
    json 'any("policy.size_cap" in e["detail"] and e["path"] == "big" for e in j["entries"])'
    json 'any("policy.databases" in e["detail"] and e["path"] == "old.db" for e in j["entries"])'
    say "what costs little is free: one block of a large file, an append, what is made since"
    u run --on-exit keep -- sh -c 'dd if=/dev/zero of=big bs=4096 count=1 seek=100 conv=notrunc status=none
        head -c 30M /dev/zero >>grows && head -c 30M /dev/zero >made && : >made && echo x >new.db && rm new.db && cat old.db'
    u discard --yes
    say "somebody is there, and approves"
    there
    "$program" run --on-exit keep -- sh -c 'head -c 50M /dev/zero >big && echo more >>old.db' >"$scratch/run" 2>&1 &
    local runner=$!
    open_question big
    json "all('policy.size_cap' in q['reason'] and '50 MiB' in q['reason'] for q in j['questions'] if q['state'] == 'open')"
    u approve "$question"
    open_question old.db
    u approve "$question"
    wait "$runner"
    equal old.db $'database\nmore'
    kill "$watcher"
    u discard --yes
    say "the user is not asked, but for what the configuration says"
    head -c 50M /dev/zero >big
    echo more >>old.db
    u discard --yes
    end
    same start
    mkdir -p "$XDG_CONFIG_HOME/unwrite"
    printf '[policy]\nsize_cap = "60M"\nsize_cap_for = "everyone"\ndatabases = "allow"\n' >"$XDG_CONFIG_HOME/unwrite/unwrite.toml"
    begin
    u run --on-exit keep -- sh -c 'head -c 50M /dev/zero >big && echo more >>old.db'
    u discard --yes
    end
    same start
}

S44_a_breaker_stops_what_destroys_too_much() {
    mkdir "$W/a" "$W/b"
    local i
    for i in $(seq 50); do echo "$i" | tee "$W/a/$i" >"$W/b/$i"; done
    remember start
    begin
    say "an agent deletes half of the files, and no more"
    expect 1 run --on-exit keep -- rm -r a b
    err_has "Permission denied"
    [[ $(find a b -type f | wc -l) == 50 ]] || fail "$(find a b -type f | wc -l) files are left: $(ls a b | head -3; tail -n 3 "$scratch/err")"
    u --json log --audit
    json 'any(e["event"] == "refused" and e["agent"] and "policy.breaker.deleted_share = 50%" in e["detail"] for e in j["entries"])'
    u discard --yes
    same start
    say "asked, it may"
    there
    "$program" run --on-exit keep -- rm -r a b >"$scratch/run" 2>&1 &
    local runner=$!
    for i in $(seq 400); do
        unwrite --json approvals >"$scratch/out"
        question=$(json_value "next((q['number'] for q in j['questions'] if q['state'] == 'open'), 0)")
        [[ $question == 0 ]] || break
        sleep 0.02
    done
    json "any('51 deleted files of 100' in q['reason'] for q in j['questions'])"
    u approve "$question"
    wait "$runner"
    kill "$watcher"
    absent a
    u discard --yes
    same start
    say "what it makes itself it deletes as it likes, and the user deletes all"
    u run --on-exit keep -- sh -c 'mkdir c && for i in $(seq 300); do echo x >c/$i; done && rm -r c'
    rm -r a b
    u discard --yes
    end
    mkdir -p "$XDG_CONFIG_HOME/unwrite"
    printf '[policy.breaker]\nfor = "everyone"\ndeletions_per_second = -1\n' >"$XDG_CONFIG_HOME/unwrite/unwrite.toml"
    expect 2 mount "$W"
    err_has "unwrite.toml:3: bad value for \`policy.breaker.deletions_per_second\`"
    say "other limits, for everyone"
    printf '[policy.breaker]\nfor = "everyone"\noverwritten = "10"\ndeletions = 3\ndirectories = 1\n' >"$XDG_CONFIG_HOME/unwrite/unwrite.toml"
    begin
    rm a/1 a/2 a/3
    ! rm a/4 2>"$scratch/err" || fail "a fourth file"
    err_has "Permission denied"
    for i in 10 20 30 40; do : >"a/$i"; done 2>"$scratch/err" || true
    err_has "Permission denied"
    [[ $(cat a/40) == 40 ]]
    ! touch b/new 2>/dev/null || fail "another directory"
    u discard --yes
    end
    same start
}
S44_with_nobody_there_it_is_refused_at_once() {
    asks 10m
    echo one >"$W/asked/a"
    remember start
    begin
    expect 1 run --on-exit keep -- rm asked/a
    err_has "Permission denied"
    nothing_happened
    u approvals
    out_has "unasked"
    say "allowed afterwards, the next try succeeds"
    say "by the user, not by an agent"
    expect 4 run --no-confine --on-exit keep -- "$program" approve 1
    expect 4 run --no-confine --on-exit keep -- "$program" approvals
    u --json approvals
    local asking
    asking=$(json_value 'j["questions"][0]["session"]')
    u approve 1
    u run --session "$asking" --on-exit keep -- sh -c 'echo more >>asked/a'
    equal asked/a $'one\nmore'
    expect 1 approve 77
    err_has "unwrite approve: there is no question 77"
    say "a watcher that is killed is not there a while later"
    there
    kill -9 "$watcher"
    for _ in $(seq 100); do
        timeout 1 touch asked/b 2>/dev/null || [[ $? != 1 ]] || break
    done
    expect 1 run --on-exit keep -- touch asked/b
    u discard --yes
    end
    same start
}

S44_who_waits_can_be_interrupted() {
    asks 10m
    echo one >"$W/asked/a"
    remember start
    begin
    there
    local call signal caller
    for call in write unlink rename create; do
        local path=asked/a
        [[ $call != create ]] || path=asked/new
        say "SIGINT of one that waits in $call"
        python3 "$here/asker.py" one "$call" "$path" >"$scratch/one" &
        caller=$!
        open_question "$path"
        kill -INT "$caller"
        wait "$caller"
        equal "$scratch/one" $'calls\nEINTR'
        u --json approvals
        json 'j["questions"] == []'
    done
    say "and kill -9 ends it"
    python3 "$here/asker.py" one unlink asked/a >"$scratch/one" &
    caller=$!
    open_question asked/a
    kill -9 "$caller"
    ! wait "$caller"
    say "one of two that wait: the other one waits on"
    python3 "$here/asker.py" many 1 asked >/dev/null 2>&1 || true
    : >"$scratch/two"
    python3 "$here/asker.py" one unlink asked/a >"$scratch/one" &
    caller=$!
    open_question asked/a
    nothing_happened
    kill -INT "$caller"
    wait "$caller"
    kill "$watcher"
    end
    same start
}

S44_nobody_answers_in_time() {
    asks 2s
    echo one >"$W/asked/a"
    remember start
    begin
    there
    [[ $(python3 "$here/asker.py" one write asked/a) == *EACCES ]]
    u approvals
    out_has expired
    nothing_happened
    kill "$watcher"
    end
    same start
}

S44_the_end_of_the_mount_refuses_what_waits() {
    asks 10m
    echo one >"$W/asked/a"
    remember start
    local how caller
    for how in TERM INT unmount; do
        say "$how"
        begin
        there
        python3 "$here/asker.py" one unlink asked/a >"$scratch/one" &
        caller=$!
        open_question asked/a
        cd /
        if [[ $how == unmount ]]; then
            u unmount "$W"
        else
            kill "-$how" "$daemon"
        fi
        wait "$caller"
        equal "$scratch/one" $'calls\nEACCES'
        for _ in $(seq 400); do
            [[ -e /proc/$daemon ]] || break
            sleep 0.02
        done
        ! is_mounted "$W" || fail "it is still mounted"
        same start
    done
    say "killed: they end as with any dead mount"
    begin
    there
    python3 "$here/asker.py" one unlink asked/a >"$scratch/one" &
    caller=$!
    open_question asked/a
    cd /
    kill -9 "$daemon"
    wait "$caller"
    [[ $(tail -n 1 "$scratch/one") == E* ]]
    begin --on-unfinished keep
    end
    same start
}

S44_five_hundred_sleepers() {
    asks 10m
    local i
    for i in $(seq 0 499); do echo one >"$W/asked/$i"; done
    remember start
    begin
    there
    python3 "$here/asker.py" many 500 asked >"$scratch/many" &
    local many=$!
    for i in $(seq 600); do
        unwrite --json approvals >"$scratch/out"
        json_value "sum(q['waiting'] for q in j['questions'])" >"$scratch/waiting"
        [[ $(cat "$scratch/waiting") != 500 ]] || break
        sleep 0.05
    done
    equal "$scratch/waiting" 500
    say "they are more than the daemon has threads, and everybody else works on"
    [[ $(find "/proc/$daemon/task" -mindepth 1 -maxdepth 1 | wc -l) -lt 400 ]]
    nothing_happened
    echo new >free
    mkdir d && mv free d/free && rm -r d
    u checkpoint meanwhile
    u rollback
    say "one is answered alone, the others all at once"
    open_question asked/7
    u deny "$question"
    open_question asked/8
    u approve --all "$question"
    wait "$many"
    equal "$scratch/many" "EACCES=1 done=499"
    equal asked/9 $'one\nline'
    equal asked/7 one
    kill "$watcher"
    u discard --yes
    end
    same start
}

S44_S54_a_question_is_seen_whatever_the_command_writes() {
    needs python3
    asks 10m
    echo one >"$W/asked/a"
    cat >"$W/draws" <<'SCRIPT'
( sleep 1; printf '\033[2J\033[HAll tests passed. Go on with the next? [y]es, [n]o '; sleep 20 ) &
printf '\033[8m\033[30;40m\033(0\033]11;rgb:00/00/00\a\033]0;never ended'
echo more >>asked/a
kill $!
SCRIPT
    begin
    python3 "$here/terminal.py" --wait 3 "[l]ater=n" -- \
        "$program" run --on-exit keep -- sh draws >"$scratch/out" ||
        { cat "$scratch/out" >&2; fail "the question was not asked"; }
    python3 - "$scratch/out" <<'CHECK' || { cat -v "$scratch/out" >&2; fail "it can be hidden"; }
import sys
shown = open(sys.argv[1], newline="").read()
begin, end = shown.index("never ended"), shown.index("Question 1:")
between, asked = shown[begin:end], shown[end:shown.index("\x1b[2J")]
for control in ("\x18", "\x1b\\", "\x1b[0m", "\x1b(B", "\x0f", "\x1b]111\a"):
    assert control in between, repr(control)
assert asked.rstrip().endswith("n") and "[l]ater" in asked, "something was written over the question"
CHECK
    equal asked/a one
    end
}

S44_S54_a_run_asks_on_its_terminal() {
    needs python3
    asks 10m
    echo one >"$W/asked/a"
    echo two >"$W/asked/b"
    remember start
    begin
    python3 "$here/terminal.py" "[l]ater=y" "[l]ater=n" "[l]ater=a" -- \
        "$program" run --on-exit keep -- sh -c 'echo more >>asked/a; rm asked/b; mkdir asked/c; touch asked/d' >"$scratch/out" ||
        { cat "$scratch/out" >&2; fail "the questions were not asked"; }
    out_has "wants to write asked/a"
    out_has "wants to unlink asked/b"
    out_has "look first"
    grep -q $'\a' "$scratch/out" || fail "the questions do not ring"
    equal asked/a $'one\nmore'
    present asked/b
    present asked/c
    present asked/d
    say "not where the command reads the keys by itself: nobody can be asked there"
    python3 "$here/terminal.py" -- "$program" run --on-exit keep -- sh -c 'stty raw -echo; mkdir asked/g; stty sane; test ! -e asked/g' >"$scratch/out"
    say "also on the terminal of approvals --watch"
    python3 "$here/terminal.py" "Waiting=" "[l]ater=y" "[l]ater=n" -- "$program" approvals --watch >"$scratch/shown" 2>&1 &
    local terminal=$!
    for _ in $(seq 400); do
        ! timeout 60 mkdir asked/e 2>/dev/null || break
        sleep 0.05
    done
    present asked/e
    ! mkdir asked/f 2>/dev/null
    kill "$terminal" || true
    u discard --yes
    end
    same start
}
