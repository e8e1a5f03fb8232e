# The power goes: what is on the disk then is all that is left.
# shellcheck shell=bash

S67_power_cut() {
    needs_root "to mount a filesystem"
    needs mkfs.ext4
    mkdir -p "$scratch/disk.d" "$scratch/after.d" "$XDG_CONFIG_HOME/unwrite"
    truncate -s 64M "$scratch/disk"
    mkfs.ext4 -q "$scratch/disk"
    # Nothing reaches the disk by itself: what is there after the cut was put there by a sync.
    mount -o loop,commit=300 "$scratch/disk" "$scratch/disk.d" 2>/dev/null || skip "there are no loop devices here"
    printf 'durability = "power"\n' >"$XDG_CONFIG_HOME/unwrite/unwrite.toml"
    W=$scratch/disk.d/w
    mkdir -p "$W/d/below"
    local i
    for i in $(seq 40); do seq $((i * 100)) >"$W/f$i"; done
    head -c 2000000 /dev/urandom >"$W/big"
    echo in >"$W/d/below/in"
    ln "$W/f1" "$W/d/hard"
    sync -f "$W"
    remember start
    begin
    say "changes of all kinds; some are synced by who makes them, most are not"
    python3 - <<'PYTHON'
import os
for i in range(1, 41):
    name = f"f{i}"
    what = i % 8
    if what == 0:
        os.unlink(name)
    elif what == 1:
        os.rename(name, f"moved{i}")
    elif what == 2:
        with open(name, "r+b") as file:
            file.seek(50)
            file.write(b"OVERWRITTEN")
            file.flush()
            os.fsync(file.fileno())
    elif what == 3:
        os.truncate(name, 10)
    elif what == 4:
        os.chmod(name, 0o600)
        os.utime(name, ns=(1, i))
    elif what == 5:
        with open(name + ".tmp", "w") as file:
            file.write("saved anew")
            file.flush()
            os.fsync(file.fileno())
        os.replace(name + ".tmp", name)
    elif what == 6:
        os.setxattr(name, "user.x", b"y")
    else:
        os.replace(name, f"f{i - 5}")
with open("big", "r+b") as file:
    for at in range(0, 2000000, 300000):
        file.seek(at)
        file.write(b"x" * 5000)
os.rename("d", "e")
os.unlink("e/below/in")
os.mkdir("fresh")
open("fresh/file", "w").write("new")
fd = os.open(".", os.O_RDONLY)
os.fsync(fd)
PYTHON
    u checkpoint half
    remember half
    echo more >>moved1
    rm -r e
    say "the power goes: what is on the disk now is all that is left"
    # From outside: whoever stands in the mount may have to wait for the daemon that is stopped.
    cd /
    kill -STOP "$daemon"
    cp "$scratch/disk" "$scratch/after"
    kill -CONT "$daemon"
    end
    umount "$scratch/disk.d"
    mount -o loop "$scratch/after" "$scratch/after.d"
    W=$scratch/after.d/w
    begin
    err_has "unwrite was interrupted during a task."
    u rollback half
    same half
    u discard --yes
    same start
    end
    same start
    check_state
    umount "$scratch/after.d"
}

# forgotten: the daemon is killed, and what a power cut does is done by hand: what was deleted is in the attic,
# the rows that say so are gone, and the kernel is another one.
forgotten() {
    crash
    umount "$W"
    local log
    for log in "$W"/.unwrite/deltas/*.log; do truncate -s 0 "$log"; done
    echo "another boot" >"$W/.unwrite/boot"
}

S67_what_was_cut_off_and_written_again_is_on_the_disk_soon() {
    needs_root "to mount a filesystem"
    needs mkfs.ext4
    mkdir -p "$scratch/disk.d" "$scratch/after.d"
    truncate -s 64M "$scratch/disk"
    mkfs.ext4 -q "$scratch/disk"
    mount -o loop,commit=1 "$scratch/disk" "$scratch/disk.d" 2>/dev/null || skip "there are no loop devices here"
    W=$scratch/disk.d/w
    mkdir "$W"
    local i
    for i in 1 2 3; do echo "old text" | tee "$W/f$i" >"$scratch/disk.d/plain$i"; done
    sync -f "$W"
    begin
    for i in 1 2 3; do echo "new text" | tee "f$i" >"$scratch/disk.d/plain$i"; done
    say "a plain filesystem begins to write such a file when it is closed, and so do we: nobody syncs anything"
    sleep 4
    cp "$scratch/disk" "$scratch/after"
    end
    umount "$scratch/disk.d"
    mount -o loop "$scratch/after" "$scratch/after.d"
    for i in 1 2 3; do
        equal "$scratch/after.d/plain$i" "new text"
        equal "$scratch/after.d/w/f$i" "new text"
    done
    umount "$scratch/after.d"
}

S67_what_no_row_claims_after_a_power_cut_is_kept() {
    mkdir -p "$W/d"
    echo "the only copy" >"$W/d/deleted"
    echo stays >"$W/stays"
    begin
    rm d/deleted
    echo more >>stays
    forgotten
    begin --on-unfinished keep
    err_has "1 deleted file did not fit any recorded state"
    u status
    out_has "unwrite gc --lost-found"
    u recover --keep
    out_has ".unwrite/lost+found"
    u --json status
    json 'j["lost_objects"] == 1'
    end
    check_state
    out_has "1 deleted file"
    grep -rqx "the only copy" "$W/.unwrite/lost+found"
    grep -qP "\tfile\t14\t" "$W/.unwrite/lost+found/1/listing"
    begin
    u gc --lost-found
    out_has "removed 1 deleted file and 0 parts of the history from lost+found"
    u status
    out_lacks "lost+found"
    end
    absent "$W/.unwrite/lost+found"
}

S67_a_state_directory_without_its_database_is_refused() {
    project
    remember start
    begin
    rm -r src blob
    remember changed
    u checkpoint half
    rm notes.txt
    end
    find "$W/.unwrite/attic" -type f | sort >"$scratch/attic"
    [[ -s $scratch/attic ]] || fail "nothing is in the attic"
    local how
    cp "$W/.unwrite/journal.db" "$scratch/kept.db"
    for how in missing empty; do
        rm "$W/.unwrite/journal.db"
        [[ $how == missing ]] || : >"$W/.unwrite/journal.db"
        local command
        for command in "mount $W" "-C $W status" "-C $W check" "-C $W check --repair" "-C $W gc" "-C $W recover" "-C $W discard --yes"; do
            # shellcheck disable=SC2086
            expect 7 $command
            err_has "journal.db, is $how"
            err_has "hint:"
        done
        find "$W/.unwrite/attic" -type f | sort | diff "$scratch/attic" -
        cp "$scratch/kept.db" "$W/.unwrite/journal.db"
    done
    begin --on-unfinished keep
    u rollback half
    same changed
    u discard --yes
    same start
    end
}
