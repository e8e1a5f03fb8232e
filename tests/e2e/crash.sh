# The daemon is killed, at any moment; nothing is lost and everything can still be taken back.
# shellcheck shell=bash

six_changes() {
    mkdir -p "$W/d"
    local i
    for i in 1 2 3 4 5; do seq 50 >"$W/f$i"; done
    echo in >"$W/d/in"
    remember start
    begin
    echo x >>f1
    rm f2
    mv f3 moved
    chmod 600 f4
    echo new >fresh
    rm -r d/in
    remember changed
    crash
}
interrupted() {
    err_has "unwrite was interrupted during a task. 6 files were modified."
    err_has "[C]ommit changes  [D]iscard and restore  [R]eview"
}

S67_S68_S83_the_user_is_told_and_nothing_is_lost() {
    six_changes
    expect 6 -C "$W" status
    begin
    interrupted
    same changed
    u discard --yes
    same start
    end
    same start
    check_state
}

S68_S83_recover_commit() {
    six_changes
    begin
    interrupted
    u recover --status
    out_has "Journal is intact"
    same changed
    u recover --commit
    err_has "6 files were modified."
    same changed
    expect 3 undo
    end
    same changed
    begin
    [[ ! -s $scratch/err ]] || fail "a mount of a settled workspace says: $(cat "$scratch/err")"
    end
}

S67_S68_S83_recover_clears_a_dead_mount() {
    six_changes
    expect 6 -C "$W" status
    err_has "unwrite recover"
    u -C "$W/d" recover
    err_has "cleared away the mount of a daemon that is gone"
    interrupted
    same changed
    u -C "$W" log
    out_has "(interrupted;"
    u -C "$W" recover --discard
    same start
    check_state
}

S68_S83_recover_discard_and_review() {
    six_changes
    say "on a terminal the user is asked at the mount"
    python3 "$here/terminal.py" "[D]iscard and restore  [R]eview=r" "[D]iscard and restore  [R]eview=k" -- \
        "$program" --json mount "$W" >"$scratch/out"
    cat "$scratch/out"
    daemon=$(grep -o '"pid":[0-9]*' "$scratch/out" | cut -d: -f2)
    echo "$daemon" >>"$scratch/daemons"
    out_has "was interrupted during a task. 6 files were modified."
    out_has "+++ b/f1"
    same changed
    cd "$W"
    u recover --discard
    same start
    end
    same start
}

S68_S83_each_answer_on_a_terminal() {
    local answer
    for answer in c d; do
        rm -rf "$W"
        mkdir "$W"
        six_changes
        python3 "$here/terminal.py" "[C]ommit changes  [D]iscard and restore  [R]eview=$answer" "(y/n)=y" -- \
            "$program" --json mount "$W" >"$scratch/out"
        daemon=$(grep -o '"pid":[0-9]*' "$scratch/out" | cut -d: -f2)
        echo "$daemon" >>"$scratch/daemons"
        out_has "unwrite was interrupted during a task. 6 files were modified."
        cd "$W"
        if [[ $answer == c ]]; then
            out_has "Accepted for good"
            same changed
            expect 3 discard --yes
        else
            out_has Discarded
            same start
            expect 3 undo
        fi
        end
        say "and it is settled: the next mount asks nothing"
        python3 "$here/terminal.py" -- "$program" --json mount "$W" >"$scratch/out"
        grep -o '"pid":[0-9]*' "$scratch/out" | cut -d: -f2 >>"$scratch/daemons"
        out_lacks "[D]iscard"
        u unmount "$W"
        check_state
    done
}

S68_S83_at_the_mount_by_option() {
    six_changes
    begin --on-unfinished discard
    same start
    u redo
    same changed
    crash
    begin --on-unfinished commit
    same changed
    expect 3 discard --yes
    end
    same changed
}

S67_S69_without_a_mount_everything_works_too() {
    six_changes
    say "the dead mount is cleared away; the commands work on the directory itself"
    u unmount "$W"
    u -C "$W" status
    u -C "$W" recover --status
    u -C "$W" undo
    same start
    u -C "$W" redo
    same changed
    u -C "$W" rollback root
    same start
    check_state
}

# A writer that never stops; each acknowledged step is noted outside the workspace.
cat >"$scratch/restless.py" <<'PYTHON'
import os, random, sys
random.seed(int(sys.argv[1]))
log = os.open("log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
acknowledged = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT)
for step in range(1000000):
    try:
        os.write(log, b"%d\n" % step)
        os.pwrite(acknowledged, b"%d" % step, 0)
        what, name = random.randrange(9), f"f{random.randrange(30)}"
        if what == 0:
            with open(name, "wb") as file:
                file.write(random.randbytes(random.randrange(100000)))
        elif what == 1 and os.path.exists(name):
            fd = os.open(name, os.O_RDWR)
            os.pwrite(fd, random.randbytes(5000), random.randrange(100000))
            os.close(fd)
        elif what == 2:
            os.rename(name, f"f{random.randrange(30)}")
        elif what == 3:
            os.unlink(name)
        elif what == 4:
            os.mkdir(f"d{random.randrange(10)}")
        elif what == 5:
            os.rename(f"d{random.randrange(10)}", f"d{random.randrange(10)}/x{step}")
        elif what == 6:
            os.rename(name, f"d{random.randrange(10)}/y{step}")
        elif what == 7:
            os.truncate(name, random.randrange(50000))
        else:
            os.chmod(name, random.choice([0o600, 0o644, 0o755]))
            os.utime(name, ns=(step, step * 1000))
    except OSError as error:
        if error.errno in (107, 103, 5, 4):
            sys.exit(0)
PYTHON

# restless SEED: begins it and waits for its first step; $writer is its process.
restless() {
    rm -f "$scratch/acknowledged"
    python3 "$scratch/restless.py" "$1" "$scratch/acknowledged" &
    writer=$!
    while [[ ! -s $scratch/acknowledged ]]; do sleep 0.01; done
}

S67_killed_at_any_moment() {
    local rounds=${UNWRITE_LONG:+60} round seen delay
    rounds=${rounds:-4}
    mkdir -p "$W"/d{0..9}
    local i
    for i in $(seq 0 29); do head -c $((i * 3000)) /dev/urandom >"$W/f$i"; done
    remember s0
    begin
    for round in $(seq "$rounds"); do
        u checkpoint "a$round"
        restless $((round * 2))
        sleep 0.05
        kill "$writer"
        wait "$writer" || true
        remember s1
        u checkpoint "b$round"
        restless $((round * 2 + 1))
        delay=0.$((RANDOM % 4))$((RANDOM % 10))
        sleep "$delay"
        crash
        wait "$writer" || fail "the writer ended with $?"
        seen=$(tail -n 1 "$scratch/acknowledged")
        begin
        say "round $round: killed after $delay s, $seen steps were acknowledged"
        grep -qx "$seen" log || fail "the acknowledged step $seen is not in the file"
        remember live
        u rollback "b$round"
        same s1
        u redo
        same live
        u rollback root
        same s0
        u rollback "b$round"
        same s1
        u discard --yes
        same s0
    done
    end
    same s0
    check_state
}

S67_killed_during_a_restore() {
    local rounds=${UNWRITE_LONG:+40} round done=0 undone=0 delay
    rounds=${rounds:-4}
    python3 - "$W" <<'PYTHON'
import os, sys
for i in range(600):
    os.makedirs(f"{sys.argv[1]}/d{i % 50}", exist_ok=True)
    with open(f"{sys.argv[1]}/d{i % 50}/{i}", "w") as file:
        file.write(str(i) * 1000)
PYTHON
    remember s0
    begin
    u checkpoint base
    python3 - <<'PYTHON'
import os
for i in range(600):
    name = f"d{i % 50}/{i}"
    if i % 5 == 0:
        os.unlink(name)
    elif i % 5 == 1:
        os.rename(name, f"d{(i + 1) % 50}/moved{i}")
    elif i % 5 == 2:
        with open(name, "r+") as file:
            file.write("changed")
    elif i % 5 == 3:
        os.chmod(name, 0o600)
        os.utime(name, ns=(1, i))
    else:
        os.truncate(name, 100)
PYTHON
    remember s1
    u checkpoint changed
    for round in $(seq "$rounds"); do
        "$program" rollback base >"$scratch/rollback.out" 2>&1 &
        local pid=$!
        delay=0.0$((RANDOM % 10))$((RANDOM % 10))
        [[ $((round % 3)) != 0 ]] || delay=0.$((RANDOM % 3))$((RANDOM % 10))
        sleep "$delay"
        crash
        wait "$pid" || true
        begin
        if walk same "$scratch/s0.seen" "$W" "$W" >"$scratch/differences"; then
            done=$((done + 1))
            same s0
        else
            undone=$((undone + 1))
            same s1 "$W" "nor at s0 after a kill at $delay s: $(head -n 5 "$scratch/differences")"
        fi
        u rollback changed
        same s1
    done
    say "of $rounds restores that were killed, $done were finished at the mount and $undone had not begun"
    u discard --yes
    same s0
    end
    same s0
    check_state
}

S67_killed_during_a_commit() {
    local round
    for round in 1 2 3 4; do
        rm -rf "$W"
        mkdir "$W"
        seq 100 >"$W/f"
        mkdir "$W/d"
        touch "$W"/d/{1..300}
        begin
        echo x >>f
        rm -r d
        u checkpoint a
        echo y >>f
        remember changed
        "$program" commit --yes >"$scratch/commit.out" 2>&1 &
        local pid=$!
        sleep 0.0$((RANDOM % 6))
        crash
        wait "$pid" || true
        begin
        same changed
        "$program" rollback root >/dev/null 2>&1 || fail "no rollback after a commit that was killed"
        if [[ $(wc -l <f) == 100 ]]; then present d/300; else same changed; fi
        end
        check_state
    done
}
