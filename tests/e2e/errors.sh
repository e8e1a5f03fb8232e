# What cannot be done is refused with a reason, an exit code of its own, and no harm.
# shellcheck shell=bash

S165_what_cannot_be_mounted() {
    echo x >"$scratch/file"
    expect 1 mount "$scratch/file"
    err_has "file"
    expect 1 mount "$scratch/nothing-there"
    err_has "nothing-there"
    expect 2 mount /
    expect 2 mount
    expect 2 no-such-command
    expect 2 mount "$W" --on-unfinished maybe
    expect 6 -C "$W" status
    err_has "there is none"
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
    expect 7 -C "$W" status
    ! is_mounted "$W" || fail "it is mounted"
    echo "unwrite state 1" >"$W/.unwrite/VERSION"
    same changed
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
    chown 12345 "$W/.unwrite"
    expect 4 mount "$W"
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

S165_a_workspace_that_cannot_be_written() {
    [[ $EUID == 0 ]] || skip "it needs root to make a mount read-only"
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
    expect 1 restore no/such/path
    expect 2 restore /etc/passwd
    expect 1 diff n999
    expect 2 undo 0
    expect 2 redo x
    expect 1 undo n999
    expect 1 undo no-such-session
    expect 2 gc --max-age soon
    same now
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

# A small filesystem of its own; the workspace is a directory there, so that room can be taken and given beside it.
small_disk() {
    [[ $EUID == 0 ]] || skip "it needs root to mount a filesystem"
    mkdir "$scratch/small"
    truncate -s "$1" "$scratch/disk"
    if ! { command -v mkfs.ext4 >/dev/null && mkfs.ext4 -q "$scratch/disk" &&
        mount -o loop "$scratch/disk" "$scratch/small"; } 2>/dev/null; then
        mount -t tmpfs -o size="$1" tmpfs "$scratch/small"
    fi
    W=$scratch/small/w
    mkdir "$W"
}

S165_full_disk() {
    small_disk 48M
    head -c 12M /dev/urandom >"$W/big"
    seq 1000 >"$W/small"
    remember start
    begin
    say "fill the disk, then overwrite: what cannot be kept is not changed"
    dd if=/dev/zero of=filler bs=1M status=none 2>/dev/null && fail "the disk is not full"
    sync
    local code=0
    dd if=/dev/urandom of=big bs=1M count=8 conv=notrunc status=none 2>"$scratch/dd" || code=$?
    [[ $code != 0 ]] || fail "an overwrite that cannot be kept succeeded"
    grep -q "No space left" "$scratch/dd" || fail "$(cat "$scratch/dd")"
    say "a file can still be deleted, and all of it taken back"
    rm filler small
    u rollback root
    same start
    say "a restore that finds no room changes nothing"
    dd if=/dev/urandom of=big bs=1M count=12 conv=notrunc status=none
    remember overwritten
    u checkpoint overwritten
    echo more >small
    remember full
    dd if=/dev/zero of=../ballast bs=1M status=none 2>/dev/null && fail "the disk is not full"
    sync
    expect 1 rollback root
    err_has "No space left"
    same full
    u status
    say "with room again it can be done, and undone"
    rm ../ballast
    u rollback root
    same start
    u redo
    same overwritten
    u redo
    same full
    u discard --yes
    same start
    end
    same start
    check_state
    umount "$scratch/small"
}
