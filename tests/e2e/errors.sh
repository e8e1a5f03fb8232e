# What cannot be done is refused with a reason, an exit code of its own, and no harm.
# shellcheck shell=bash

S165_what_cannot_be_mounted() {
    echo x >"$scratch/file"
    expect 1 mount "$scratch/file"
    err_has "file"
    expect 1 mount "$scratch/nothing-there"
    err_has "nothing-there"
    expect 2 mount /
    expect 2 -C / mount
    expect 2 -C "$HOME" mount
    expect 2 no-such-command
    expect 2 mount "$W" --on-unfinished maybe
    UNWRITE_IDLE=asleeep expect 2 mount "$W"
    err_has "UNWRITE_IDLE cannot be asleeep"
    err_has "awake or asleep"
    UNWRITE_SPIN=off expect 2 mount "$W"
    UNWRITE_CACHES=long expect 2 mount "$W"
    expect 6 -C "$W" status
    err_has "unwrite status: there is no workspace at or above"
    err_has 'hint: `unwrite mount DIR` makes DIR a workspace'
    expect 6 unmount "$W"
    absent "$W/.unwrite"
    say "mounted already; inside and around a workspace"
    mkdir -p "$W/inside"
    begin
    cd /
    expect 3 mount "$W"
    err_has "mounted already"
    expect 2 mount "$W/inside"
    expect 2 mount "$scratch"
    expect 2 mount "$scratch/home" --at "$scratch/home/.."
    absent "$scratch/.unwrite"
    absent "$W/inside/.unwrite"
    say "two mounts beside each other get along"
    mkdir "$scratch/other"
    u --json mount "$scratch/other"
    json_value 'j["pid"]' >>"$scratch/daemons"
    echo one >"$W/f"
    echo two >"$scratch/other/f"
    u -C "$W" undo
    absent "$W/f"
    equal "$scratch/other/f" two
    u unmount "$scratch/other"
    cd "$W"
    end
}

S165_versions_and_damage() {
    seq 10 >"$W/f"
    begin
    echo x >>f
    remember changed
    end
    say "a state directory of a newer program"
    echo "unwrite state 2" >"$W/.unwrite/VERSION"
    expect 7 mount "$W"
    err_has "newer"
    err_has "hint: use that version of"
    expect 7 -C "$W" status
    ! is_mounted "$W" || fail "it is mounted"
    echo "unwrite state 1" >"$W/.unwrite/VERSION"
    same changed
    say "a state directory of somebody else"
    not_ours() {
        chown 12345 "$W/.unwrite"
        expect 4 mount "$W"
        err_has "it belongs to user 12345, not to you"
        err_has 'hint: run `unwrite` as that user, or rename .unwrite'
        chown 0 "$W/.unwrite"
    }
    if_root not_ours
    say "words that mean nothing are not taken for obeyed"
    UNWRITE_LOG=loud expect 2 mount "$W"
    err_has "hint: set it to error or warning or info or debug"
    UNWRITE_COMPRESS_AFTER=soon expect 2 mount "$W"
    err_has "a number of seconds"
    say "a database that is none"
    cp -a "$W/.unwrite" "$scratch/saved"
    head -c 100000 /dev/urandom >"$W/.unwrite/journal.db"
    rm -f "$W/.unwrite"/journal.db-*
    expect 7 mount "$W"
    ! is_mounted "$W" || fail "it is mounted"
    same changed
    rm -r "$W/.unwrite"
    mv "$scratch/saved" "$W/.unwrite"
    begin
    u undo
    equal f "$(seq 10)"
    end
    say "somebody else's state directory is not trusted"
    if_root chown 12345 "$W/.unwrite"
    if_root expect 4 mount "$W"
    rm -r "$W/.unwrite"
    ln -s "$scratch/home" "$W/.unwrite"
    expect 4 mount "$W"
    [[ -z $(ls -A "$scratch/home") ]] || fail "it went through a symlink: $(ls -A "$scratch/home")"
}

S165_bad_configuration_names_the_line() {
    mkdir -p "$XDG_CONFIG_HOME/unwrite"
    printf '# ours\ndurability = "sometimes"\n' >"$XDG_CONFIG_HOME/unwrite/unwrite.toml"
    expect 2 mount "$W"
    err_has "unwrite.toml:2"
    printf 'durability = "power"\n[gc]\nmax_age_dayz = 3\n' >"$XDG_CONFIG_HOME/unwrite/unwrite.toml"
    expect 2 mount "$W"
    err_has "unwrite.toml:3"
    absent "$W/.unwrite"
    printf 'durability = "power"\n[restore]\nmtime = "now"\n' >"$XDG_CONFIG_HOME/unwrite/unwrite.toml"
    touch -d 2001-01-01 "$W/f"
    begin
    echo x >>f
    u undo
    [[ ! -s f && $(stat -c %Y f) -gt 1700000000 ]] || fail "mtime $(stat -c %y f)"
    end
}

S165_with_a_bad_configuration_nothing_is_done() {
    seq 10 >"$W/f"
    begin
    echo x >>f
    u checkpoint a
    end
    remember changed
    mkdir -p "$XDG_CONFIG_HOME/unwrite"
    local file command
    for file in "$W/.unwrite/config.toml" "$XDG_CONFIG_HOME/unwrite/unwrite.toml"; do
        say "${file##*/}"
        echo 'no_such_key = 3' >"$file"
        for command in "undo" "rollback a" "discard --yes" "restore f" "commit --yes" "checkpoint b" "gc" "check --repair" \
            "recover --discard" "status" "run --on-exit keep -- touch made" "mount ."; do
            # shellcheck disable=SC2086
            expect 2 -C "$W" $command
            err_has "${file##*/}:1"
        done
        ! is_mounted "$W" || fail "it is mounted"
        same changed
        rm "$file"
    done
    u -C "$W" log
    out_lacks "checkpoint  b"
    u -C "$W" undo
    equal "$W/f" "$(seq 10)"
}

S165_a_workspace_that_cannot_be_written() {
    needs_root "to make a mount read-only"
    echo x >"$W/f"
    mount --bind "$W" "$W"
    mount -o remount,ro,bind "$W"
    expect 1 mount "$W"
    err_has "Read-only"
    umount "$W"
    absent "$W/.unwrite"
}

S165_everyday_mistakes() {
    seq 10 >"$W/f"
    begin
    echo x >>f
    u checkpoint here
    remember now
    expect 1 rollback n999
    expect 1 rollback hree
    err_has 'Did you mean "here"?'
    expect 1 rollback N2
    err_has 'Did you mean "n2"?'
    expect 1 restore no/such/path
    err_has "hint: \`unwrite status\`"
    expect 1 commit --yes no/such/path
    err_has "hint: \`unwrite status\`"
    expect 1 unmount no-such-place
    err_has "no-such-place"
    u why no-such-file
    out_has "no-such-file: does not exist"
    expect 2 restore /etc/passwd
    expect 1 diff n999
    expect 2 undo 0
    expect 2 redo x
    expect 1 undo n999
    expect 1 undo no-such-session
    expect 1 edit nothing --old a --new b
    err_has "Patch failed for nothing:"
    expect 2 gc --max-age soon
    expect 2 run --session user -- touch by-nobody
    err_has "a session cannot be named user"
    for name in :agents 2 n3 root -x a..b $'a\nb'; do
        expect 2 run --session="$name" -- touch by-nobody
        err_has "a session cannot be named"
    done
    same now
    say "the word run before -- is a command only where commands stand"
    u checkpoint -m run -- after-dashes
    u log
    out_has "after-dashes"
    u checkpoint here
    err_has "Until now the name here meant an older state"
    say "busy: a process has a file open"
    sleep 100 <f &
    local pid=$!
    cd /
    expect 1 unmount "$W"
    err_has "sleep"
    is_mounted "$W" || fail "it was unmounted"
    kill "$pid"
    wait "$pid" || true
    cd "$W"
    end
    say "the same commands without a mount"
    u -C "$W" status
    out_has "not mounted"
    u -C "$W" checkpoint
    err_has "not mounted, so what changes now is not recorded"
    u -C "$W" undo
    equal "$W/f" "$(seq 10)"
}

S167_the_state_directory_is_out_of_reach() {
    mkdir -p "$W/sub/.unwrite" "$scratch/at"
    echo mine >"$W/sub/.unwrite/file"
    echo x >"$W/f"
    begin
    echo y >>f
    u checkpoint a
    python3 "$here/unreachable.py" "$W"
    say "below the top the name is nothing special"
    equal sub/.unwrite/file mine
    mkdir sub/.unwrite/more
    u discard --yes
    absent sub/.unwrite/more
    end
    present "$W/.unwrite/journal.db"
    say "at another place, too"
    u --json mount "$W" --at "$scratch/at"
    json_value 'j["pid"]' >>"$scratch/daemons"
    python3 "$here/unreachable.py" "$scratch/at"
    echo through >"$scratch/at/f"
    equal "$W/f" through
    u -C "$scratch/at" undo
    equal "$W/f" x
    u -C "$W" status
    u unmount "$scratch/at"
}

S165_a_journal_that_cannot_be_written() {
    needs chattr
    mkdir "$scratch/at" "$W/d"
    seq 1000 >"$W/f"
    echo old >"$W/g"
    echo old >"$W/d/in"
    ln -s f "$W/link"
    cd /
    u --json mount "$W" --at "$scratch/at"
    json_value 'j["pid"]' >>"$scratch/daemons"
    cd "$scratch/at"
    remember start
    # New files in the directory of the deltas are refused from here on, as if the disk were broken.
    trap 'chattr -i "$W/.unwrite/deltas" 2>/dev/null' EXIT
    chattr +i "$W/.unwrite/deltas" 2>/dev/null || skip "chattr does not work here"
    python3 - <<'PYTHON'
import os
def refused(what, *arguments, **options):
    try:
        what(*arguments, **options)
    except OSError as error:
        print("  ", what.__name__, error.strerror)
        return
    raise SystemExit(f"{what.__name__}{arguments} was done though the journal cannot be written")
def write(path, where, data):
    fd = os.open(path, os.O_WRONLY)
    try:
        os.pwrite(fd, data, where)
    finally:
        os.close(fd)
refused(write, "f", 100, b"x")
refused(write, "f", 1000000, b"x")
refused(os.truncate, "f", 5)
refused(os.unlink, "g")
refused(os.rename, "g", "f")
refused(os.rename, "d", "e")
refused(os.link, "g", "h")
refused(os.symlink, "g", "s")
refused(os.mkdir, "m")
refused(os.mkfifo, "p")
refused(os.open, "new", os.O_WRONLY | os.O_CREAT)
refused(os.open, "f", os.O_WRONLY | os.O_TRUNC)
refused(os.chmod, "f", 0o600)
refused(os.utime, "f", ns=(1, 1))
refused(os.setxattr, "f", "user.x", b"y")
refused(os.unlink, "d/in")
refused(os.unlink, "link")
assert open("f").read().startswith("1\n2\n")
PYTHON
    same start
    say "reading goes on, and with the journal back so does writing"
    chattr -i "$W/.unwrite/deltas"
    echo more >>f
    rm g
    u discard --yes
    same start
    cd /
    u unmount "$scratch/at"
    check_state
}

S166_the_journal_comes_before_the_change() {
    observed "the calls that are looked at are those of requests"
    needs strace
    mkdir -p "$XDG_CONFIG_HOME/unwrite"
    printf 'durability = "power"\n' >"$XDG_CONFIG_HOME/unwrite/unwrite.toml"
    seq 10000 >"$W/overwritten"
    echo old >"$W/deleted"
    begin
    strace -f -y -qq -p "$daemon" -o "$scratch/trace" -s 0 \
        -e trace=pwrite64,write,pwritev,fdatasync,fsync,renameat2,renameat,unlinkat,linkat,ftruncate 2>"$scratch/err" &
    local tracer=$!
    traced_by "$tracer"
    printf XYZ | dd of=overwritten bs=1 seek=5000 conv=notrunc status=none
    rm deleted
    kill "$tracer" 2>/dev/null || true
    wait "$tracer" || true
    [[ -s $scratch/trace ]] || skip "strace cannot look at the daemon here: $(cat "$scratch/err")"
    python3 - "$scratch/trace" "$W" <<'PYTHON'
import re, sys
calls = [line.split(None, 1)[1] for line in open(sys.argv[1], errors="replace") if " " in line]
def first(wanted):
    for at, call in enumerate(calls):
        if re.search(wanted, call):
            return at
    raise SystemExit(f"{wanted} was not called:\n" + "\n".join(calls))
def before(one, other, since=0):
    at = [n for n, call in enumerate(calls) if since <= n < other and re.search(one, call)]
    if not at:
        raise SystemExit(f"no {one} before {calls[other]}:\n" + "\n".join(calls))
    return at[-1]
# The bytes, their sync, the record, its sync, and only then the file itself.
live = first(r"^(pwrite64|write)\(\d+<[^>]*/w/overwritten>")
record_synced = before(r"^f(data)?sync\(\d+<[^>]*/deltas/\d+\.log>", live)
record = before(r"^p?write(64|v)?\(\d+<[^>]*/deltas/\d+\.log>", record_synced)
bytes_synced = before(r"^f(data)?sync\(\d+<[^>]*/deltas/\d+\.dat>", record_synced)
before(r"^p?write(64|v)?\(\d+<[^>]*/deltas/\d+\.dat>", min(record, bytes_synced))
gone = first(r"(renameat2?|unlinkat)\(.*\"deleted\"|(renameat2?|unlinkat)\(\d+<[^>]*/w>")
before(r"^f(data)?sync\(\d+<[^>]*/deltas/\d+\.log>", gone, live)
print("  ", len(calls), "calls in the right order")
PYTHON
    u discard --yes
    equal deleted old
    end
}

S166_a_run_is_noted_first_and_never_repeated() {
    echo start >"$W/f"
    remember start
    mkfifo "$scratch/go" "$scratch/end"
    begin
    say "the run is in the log before its command touches anything"
    "$program" run --on-exit keep --session bot -- \
        sh -c 'read -r order <"$0/go"; echo once >>f; echo once >>"$0/outside"; read -r order <"$0/end"' "$scratch" \
        >"$scratch/run.out" 2>&1 </dev/null &
    local run=$!
    exec 3>"$scratch/go"
    u --json log --all
    json 'any(e["node"]["kind"] == "begin" and e["node"]["text"].startswith("sh -c read") for e in j["entries"])'
    equal f start
    absent "$scratch/outside"
    echo go >&3
    exec 3>&-
    while kill -0 "$run" && [[ ! -s $scratch/outside ]]; do sleep 0.05; done
    say "the daemon is killed in the middle of it"
    cd /
    kill -KILL "$daemon"
    echo end >"$scratch/end"
    wait "$run" || true
    begin
    err_has "unwrite was interrupted during a task."
    u recover --keep
    equal "$scratch/outside" once
    equal f $'start\nonce'
    u --json log --all
    json 'sum(e["node"]["kind"] == "run" for e in j["entries"]) == 1'
    u undo bot
    same start
    equal "$scratch/outside" once
    end
}

S167_private_whatever_the_umask_says() {
    usual "files that are being compressed come and go while they are looked at"
    mkdir "$scratch/at"
    seq 100 >"$W/f"
    echo secret >"$W/g"
    umask 0
    cd /
    u --json mount "$W" --at "$scratch/at"
    json_value 'j["pid"]' >>"$scratch/daemons"
    # only_for_the_owner: everything that the program itself made; what is in the attic keeps its own mode, behind 0700.
    only_for_the_owner() {
        local path kind=600
        find "$W/.unwrite" >"$scratch/found"
        while IFS= read -r path; do
            [[ $path != */attic/* ]] || continue
            kind=600
            [[ ! -d $path ]] || kind=700
            [[ $(stat -c %a "$path") == "$kind" ]] || fail "$path has mode $(stat -c %a "$path")"
        done <"$scratch/found"
        grep -q "/$1\$" "$scratch/found" || fail "there is no $1 to look at"
    }
    echo more >>"$scratch/at/f"
    printf x | dd of="$scratch/at/f" bs=1 seek=3 conv=notrunc status=none
    rm "$scratch/at/g"
    u -C "$scratch/at" checkpoint a
    only_for_the_owner journal.db-wal
    only_for_the_owner 'deltas/[0-9]*.dat'
    local id socket
    id=$(findmnt -no SOURCE "$scratch/at")
    socket=$(find "${XDG_RUNTIME_DIR:-/run}/unwrite" "/run/user/$EUID/unwrite" "/run/unwrite-$EUID" "/tmp/unwrite-$EUID" \
        -name "${id#unwrite:}.sock" 2>/dev/null || true)
    present "$socket"
    [[ $(stat -c %a "$socket") == 600 ]] || fail "the socket has mode $(stat -c %a "$socket")"
    [[ $(stat -c %a "${socket%/*}") == 700 ]] || fail "${socket%/*} has mode $(stat -c %a "${socket%/*}")"
    u unmount "$scratch/at"
    only_for_the_owner journal.db
    chmod -R a+rwX "$W/.unwrite"
    say "a state directory that was opened up is closed again at the next mount"
    u --json mount "$W" --at "$scratch/at"
    json_value 'j["pid"]' >>"$scratch/daemons"
    [[ $(stat -c %a "$W/.unwrite") == 700 ]] || fail ".unwrite has mode $(stat -c %a "$W/.unwrite")"
    u unmount "$scratch/at"
}
