# The walls around a run: one story for each way past the mount that is closed. The numbers after the S-number in the
# comments are those of the list of attacks.
# shellcheck shell=bash

# begin_confined: a mounted workspace, on a machine that allows all of the walls.
begin_confined() {
    echo old >"$W/f"
    echo secret >"$W/.env"
    begin
    "$program" run --require-confinement --on-exit keep -- true 2>"$scratch/err" ||
        skip "this machine does not allow the walls: $(grep -m1 'does not allow' "$scratch/err" || cat "$scratch/err")"
}
# inside SCRIPT [ARGUMENTS...]: as an agent, with all of the walls; its exit status is the result.
inside() {
    # shellcheck disable=SC2086 # words
    "$program" run --require-confinement $in_sight --on-exit keep -- bash -c "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
}
# refused WHAT SCRIPT [ARGUMENTS...]: the script, which must not succeed.
refused() {
    local what=$1
    shift
    ! inside "$@" || fail "$what"
    ! grep -q "run: this machine\|exec" "$scratch/err" || fail "the script was not run: $(cat "$scratch/err")"
    printf '  refused: %s\n' "$what"
}

S167_the_daemons_descriptors_are_out_of_sight() { # M1, 22
    begin_confined
    refused "the daemon's number leads nowhere" 'cat /proc/"$0"/fd/*/.env || ls /proc/"$0"/root' "$daemon"
    inside 'grep -l -a unwrite /proc/[0-9]*/cmdline | grep -v -x -e "/proc/1/cmdline" -e "/proc/self/.*"; ls -d /proc/[0-9]*'
    [[ $(grep -c '^/proc/[0-9]*$' "$scratch/out") -le 4 ]] || { cat "$scratch/out"; fail "it sees others' processes"; }
    refused "the first process shows nothing either" 'ls /proc/1/root/ || ls /proc/1/cwd/ || readlink /proc/1/fd/*'
    end
}

S167_the_daemon_is_not_killed() { # M4, 23
    begin_confined
    refused "the daemon is not killed" 'kill -KILL "$0"' "$daemon"
    kill -0 "$daemon" || fail "the daemon is gone"
    equal f old
    end
}

S167_nothing_is_unmounted() { # M3, M4, 23, 25
    begin_confined
    refused "umount" 'umount "$0" || umount -l "$0"' "$W"
    refused "fusermount3" 'fusermount3 -u -z "$0"' "$W"
    refused "umount in namespaces of its own" 'unshare -Urm umount -l "$0"' "$W"
    refused "a bind mount in namespaces of its own" 'unshare -Urm mount --bind "$(dirname "$0")" /mnt' "$W"
    is_mounted "$W" || fail "the mount is gone"
    end
}

S167_no_directory_of_before_is_inherited() { # M2, 21
    echo old >"$W/f"
    exec 7<"$W"
    begin_confined
    refused "a descriptor of before the mount" 'echo raw >/proc/self/fd/7/f'
    exec 7<&-
    inside 'pwd -P; stat -f -c %t .; ls /proc/self/fd'
    out_has 65735546
    equal f old
    say "where the mount is elsewhere, the raw directory shows the mount too"
    end
    mkdir "$scratch/at"
    cd /
    u --json mount "$W" --at "$scratch/at" --on-unfinished keep
    json_value 'j["pid"]' >>"$scratch/daemons"
    cd "$scratch/at"
    inside 'stat -f -c %t "$0"; echo through >>"$0/f"' "$W"
    out_has 65735546
    u undo
    equal f old
    cd /
    u unmount "$scratch/at"
}

S43_S167_nothing_is_written_beside_the_workspace() {
    mkdir "$scratch/given"
    echo outside >"$scratch/beside"
    begin_confined
    local home
    home=$(mktemp -d /var/lib/unwrite-story.XXXXXX 2>/dev/null) || skip "only root has a place for this outside /tmp"
    echo outside >"$home/f"
    refused "appending" 'echo x >>"$0/f"' "$home"
    refused "creating" 'echo x >"$0/new"' "$home"
    refused "removing" 'rm -f "$0/f"' "$home"
    refused "attributes" 'chmod 600 "$0/f" || touch "$0/f"' "$home"
    refused "through a link in the workspace" 'ln -s "$0/f" link && echo x >>link' "$home"
    equal "$home/f" outside
    [[ $(stat -c %a "$home/f") == 644 ]] || fail "the mode was changed"
    say "its temporary directory is its own"
    inside 'echo x >/tmp/mine && echo y >"$(mktemp)" && echo z >/var/tmp/mine && ! test -e "$0"' "$scratch/beside"
    absent /var/tmp/mine
    say "places can be added"
    "$program" run --require-confinement --on-exit keep --write "$home" --write "$scratch/given" -- \
        sh -c 'echo more >>"$0/f" && echo given >"$1/f"' "$home" "$scratch/given"
    equal "$home/f" $'outside\nmore'
    equal "$scratch/given/f" given
    mkdir -p "$HOME/.cache"
    "$program" run --require-confinement --on-exit keep --caches -- sh -c 'echo c >"$HOME/.cache/c"'
    equal "$HOME/.cache/c" c
    say "without walls it is as it was"
    "$program" run --no-confine --on-exit keep -- sh -c 'echo free >>"$0/f"' "$home"
    equal "$home/f" $'outside\nmore\nfree'
    rm -r "$home"
    end
}

S167_a_place_to_write_in_is_not_reached_through_a_link() {
    local given=$scratch/given
    mkdir -p "$given/sub"
    echo mine >"$given/f"
    begin_confined
    inside 'ln -s "$0" out; ln -s "$0" up; mkdir here' "$given"
    local place
    for place in out up/sub up/f ./up/sub/.. "$W/out"; do
        expect 2 run --on-exit keep --write "$place" -- sh -c 'touch "$0/planted"' "$given"
        err_has "is a symbolic link to $given"
        err_has "hint: if you mean what it leads to, unwrite run --write $given"
    done
    absent "$given/planted"
    say "the place is said, with what the kernel made of its name"
    expect 0 run --on-exit keep $in_sight --write "$given/sub/../f" --write here -- sh -c 'echo more >>"$0"' "$given/f"
    err_has "unwrite: the command may also write in $given/f"
    err_has "unwrite: the command may also write in $W/here"
    equal "$given/f" $'mine\nmore'
    say "what was exchanged after the user named it is not written to"
    local id
    id=$(stat -c %d:%i "$given/sub")
    mv "$given/sub" "$given/was"
    mkdir "$given/sub"
    ! "$program" run --inside-root "$W" --inside-raw "$W" --require-confinement --inside-granted "$id:$given/sub" -- \
        touch "$given/sub/planted" 2>"$scratch/err" || fail "it ran"
    err_has "is not what it was when the run began"
    rmdir "$given/sub"
    ln -s "$given/was" "$given/sub"
    ! "$program" run --inside-root "$W" --inside-raw "$W" --require-confinement --inside-granted "$id:$given/sub" -- \
        touch "$given/sub/planted" 2>"$scratch/err" || fail "it ran"
    absent "$given/was/planted"
    end
}

S40_S167_the_users_commands_stay_the_users() { # 38
    begin_confined
    inside 'echo new >>f'
    local verb code
    for verb in "commit --yes" "discard --yes" "unmount ." "gc" "recover --commit"; do
        code=0
        inside "'$program' $verb" || code=$?
        [[ $code == 4 ]] || fail "$verb ended with $code: $(cat "$scratch/err")"
    done
    is_mounted "$W" || fail "the mount is gone"
    inside "'$program' status --line"
    equal "$scratch/out" "[checkpoint: 1 file changed]"
    u undo
    equal f old
    end
}

S40_S167_an_agent_is_not_registered_as_another() {
    needs python3
    begin_confined
    cp "$here/impostor.py" "$W"
    "$program" run --session victim --on-exit keep -- sh -c 'echo victims >f' 2>"$scratch/err"
    local socket
    socket=$(find "${XDG_RUNTIME_DIR:-/run}/unwrite" "/run/user/$EUID/unwrite" "/run/unwrite-$EUID" "/tmp/unwrite-$EUID" \
        -name "$(findmnt -no SOURCE "$W" | cut -d: -f2).sock" 2>/dev/null || true)
    present "$socket"
    inside 'python3 impostor.py "$0" . victim' "$socket" &
    local agent=$!
    until [[ -s child ]]; do sleep 0.05; done
    say "even with the right number, which it could only guess"
    pgrep -f '^sleep 300.125$' >number
    wait "$agent"
    cp "$scratch/out" "$scratch/answer"
    u log --json --all
    json 'sum(e["node"]["kind"] == "begin" and e["node"]["tags"].get("session") == "victim" for e in j["entries"]) == 1'
    cp "$scratch/answer" "$scratch/out"
    out_has '"ok":false'
    out_has "this is the sandbox of a run already"
    equal f victims
    end
}

S167_there_is_no_dev_fuse() { # 23
    begin_confined
    refused "/dev/fuse" ': </dev/fuse || : <>/dev/fuse'
    refused "making it" 'mknod /tmp/fuse c 10 229 && : <>/tmp/fuse'
    inside 'echo x >/dev/null && head -c 1 /dev/urandom >/dev/null && echo y >/dev/shm/y && ! ls /dev/sd* /dev/vd*'
    end
}

S60_S167_an_orphan_is_an_agent_still() { # double fork
    begin_confined
    inside 'setsid sh -c "(
            while kill -0 $$ 2>/dev/null && test -e /proc/$$; do sleep 0.01; done
            cat .env >leaked 2>/dev/null; '"'$program'"' commit --yes >said 2>&1; echo \$? >code; echo orphan >f) &"; sleep 0.1'
    say "it outlived its parents, and did nothing as the user"
    [[ ! -s leaked ]] || fail "an orphan read $(cat leaked)"
    [[ ! -e code || $(cat code) != 0 ]] || fail "an orphan committed"
    inside 'sh -c "(sleep 0.2; cat .env >leaked; '"'$program'"' commit --yes; echo \$? >code) >/dev/null 2>&1 &"; until test -s code; do sleep 0.05; done'
    equal code 4
    [[ ! -s leaked ]] || fail "an orphan read $(cat leaked)"
    u undo
    absent code
    end
}

S45_S82_io_uring_opens_nothing_denied() { # 46
    needs python3
    begin_confined
    local code=0
    inside 'python3 "$0" .env' "$here/uring_open.py" || code=$?
    [[ $code != 77 ]] || skip "this machine does not allow io_uring"
    [[ $code == 0 ]] || { cat "$scratch/out" "$scratch/err" >&2; fail "the probe ended with $code"; }
    out_has "opened: f"
    out_has "refused: .env: 13"
    end
}

S45_S75_another_users_file_stays_closed() { # M5, 40
    needs_root "to become somebody else"
    echo private >"$W/private"
    chmod 600 "$W/private"
    chmod 777 "$W"
    begin_confined
    refused "nobody reads it" 'setpriv --reuid=65534 --clear-groups cat private'
    say "permission bits bind, for root too; what it makes is the caller's"
    echo locked >locked
    chmod 444 locked
    refused "a file that is read-only" 'echo x >>locked'
    inside 'echo made >made; mkdir d'
    [[ $(stat -c %u:%g made d) == $'0:0\n0:0' ]] || fail "made by $(stat -c %u:%g made d)"
    end
}

S61_a_confined_command_ends_as_it_ends() {
    begin_confined
    local code
    for code in 0 1 42 255; do expect "$code" run --on-exit keep -- sh -c "exit $code"; done
    expect 137 run --on-exit keep -- sh -c 'kill -KILL $$'
    expect 127 run --on-exit keep -- no-such-program-at-all
    err_has "no-such-program-at-all"
    expect 126 run --on-exit keep -- ./f
    say "signals for the program reach the command"
    local signal
    for signal in INT TERM HUP USR1; do
        code=0
        # A shell's background job would ignore SIGINT.
        env --default-signal "$program" run --on-exit keep -- bash -c \
            'trap "exit 9" '$signal'; touch ready; while :; do sleep 0.05; done' >/dev/null 2>"$scratch/err" &
        local run=$!
        for _ in $(seq 200); do [[ -e ready ]] && break; sleep 0.05; done
        kill -$signal $run
        wait $run || code=$?
        [[ $code == 9 ]] || fail "$signal: ended with $code: $(cat "$scratch/err")"
        rm ready
    done
    say "SIGTERM reaches all of it, also where what was started only waits for another program"
    code=0
    "$program" run --on-exit keep -- bash -c \
        'trap : TERM; sleep 300 & touch ready; while kill -0 $! 2>/dev/null; do wait; done; exit 9' >/dev/null 2>"$scratch/err" &
    run=$!
    for _ in $(seq 200); do [[ -e ready ]] && break; sleep 0.05; done
    kill -TERM $run
    (sleep 10; kill -KILL $run) &
    wait $run || code=$?
    [[ $code == 9 ]] || fail "it ended with $code: $(cat "$scratch/err")"
    rm ready
    say "what it leaves behind is ended and counted"
    u run --on-exit keep -- sh -c 'sleep 300 & setsid sleep 300 & exit 0'
    err_has "left running"
    say "files in its own temporary directories are named, for they are gone"
    u run --on-exit keep -- sh -c 'echo notes >/tmp/notes.md; mkdir /tmp/d; echo 1 >/tmp/d/a; echo 2 >/tmp/d/b; echo 3 >/tmp/d/c; : >/tmp/empty'
    err_has "/tmp/notes.md, /tmp/d/a, /tmp/d/b and 1 more went with the run"
    u run --on-exit keep -- sh -c 'echo notes >/tmp/notes.md; rm /tmp/notes.md; echo x >x; rm x'
    ! grep -q "went with the run" "$scratch/err" || fail "$(cat "$scratch/err")"
    say "without a network there is the machine itself and nothing else"
    u run --on-exit keep --network none -- sh -c 'tail -n +3 /proc/net/dev'
    [[ $(wc -l <"$scratch/out") == 1 ]] || fail "it has interfaces: $(cat "$scratch/out")"
    expect 2 run --network maybe -- true
    expect 2 run --write "$scratch/no/such" -- true
    expect 2 run --no-confine --require-confinement -- true
    end
}

S61_a_shell_on_a_terminal() {
    needs python3
    begin_confined
    python3 "$here/confined_shell.py" "$program" >"$scratch/out" || { cat "$scratch/out" >&2; fail "the shell"; }
    cat "$scratch/out"
    end
}

S167_what_a_machine_refuses_is_named() {
    needs unshare
    begin_confined
    local home
    home=$(mktemp -d /var/lib/unwrite-story.XXXXXX 2>/dev/null) || skip "only root has a place for this outside /tmp"
    # without_namespaces ARGUMENTS...: on a machine that allows no namespaces.
    without_namespaces() {
        unshare -Ur sh -c '
            for kind in user pid mnt; do echo 0 >/proc/sys/user/max_"$kind"_namespaces || exit 99; done
            exec "$@"' sh "$program" run --on-exit keep "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    }
    without_namespaces -- sh -c 'echo new >made' || fail "it did not run: $(cat "$scratch/err")"
    [[ $(grep -c "missing: namespaces" "$scratch/err") == 1 ]] || fail "it was not named: $(cat "$scratch/err")"
    equal made new
    say "the second wall stands"
    ! without_namespaces -- sh -c 'echo x >"$0/f"' "$home" || fail "it wrote beside the workspace"
    ! without_namespaces -- sh -c 'kill -KILL "$0"' "$daemon" || fail "it killed the daemon"
    kill -0 "$daemon"
    absent "$home/f"
    rmdir "$home"
    say "and where all of it is asked for, nothing is run"
    local code=0
    without_namespaces --require-confinement -- touch ran || code=$?
    [[ $code == 4 ]] || fail "it ended with $code: $(cat "$scratch/err")"
    absent ran
    code=0
    without_namespaces --network none -- touch ran || code=$?
    [[ $code != 0 ]] || fail "it ran with the network"
    absent ran
    end
}

S75_S167_a_user_without_privileges_is_confined_too() {
    echo old >"$W/f"
    echo secret >"$W/.env"
    mkdir -m 777 "$scratch/nobody"
    as_nobody <<'SCRIPT'
daemon=$("$program" --json mount "$W" | grep -o '"pid":[0-9]*' | cut -d: -f2)
kill -0 "$daemon"
cd "$W"
run() { "$program" run --require-confinement $in_sight --on-exit keep -- sh -c "$@"; }
run true || { cd /; "$program" unmount "$W"; echo "this machine does not allow the walls to users"; exit 77; }
run 'echo new >made; echo x >>f; test "$(id -u)" = 65534'
test "$(stat -c %U made)" = nobody
if run 'kill -KILL "$0"' "$daemon"; then exit 1; fi
if run 'fusermount3 -u -z "$0"' "$W"; then exit 1; fi
if run 'unshare -Urm umount -l "$0"' "$W"; then exit 1; fi
if run 'cat .env'; then exit 1; fi
if run ': </dev/fuse'; then exit 1; fi
if run 'echo x >"$0/beside"' "$scratch/nobody"; then exit 1; fi
test ! -e "$scratch/nobody/beside"
code=0
run "'$program' commit --yes" || code=$?
test "$code" = 4
"$program" discard --yes
test "$(cat f)" = old
cd /
"$program" unmount "$W"
SCRIPT
}
