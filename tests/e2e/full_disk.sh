# A full disk: nothing is half changed, and what can go back, goes back.
# shellcheck shell=bash

# fill FILE: all of the disk.
fill() {
    dd if=/dev/zero of="$1" bs=64K status=none 2>/dev/null && fail "the disk is not full"
    cat /dev/zero >>"$1" 2>/dev/null || true
    sync
}

# From what was remembered as "full" to the start, and the same once more.
back_and_forth() {
    u rollback root
    same start
    u redo
    same full
    u discard --yes
    same start
}

S165_full_disk() {
    small_disk 48M
    head -c 12M /dev/urandom >"$W/big"
    seq 1000 >"$W/small"
    remember start
    begin
    say "fill the disk, then overwrite: what cannot be kept is not changed"
    fill filler
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
    fill ../filler
    expect 1 rollback root
    err_has "the disk is too full"
    same full
    u status
    say "with room again it can be done, and undone"
    rm ../filler
    back_and_forth
    end
    same start
    check_state
    umount "$scratch/small"
}

# fill_but N: beside the workspace, all but about N KiB.
fill_but() {
    rm -f ../filler
    fill ../filler
    truncate -s "-${1}K" ../filler
}
# Names and bytes of what is here: an edit that failed has touched the directory's time.
contents() { sha256sum -- $(ls -A); }
S145_S159_full_disk_during_an_edit() {
    small_disk 48M
    local file
    for file in a b c; do seq 25000 >"$W/$file"; done
    begin
    { echo LP1; for file in a b c; do printf 'F %s\nR\n25000\n.\nchanged\n.\n' "$file"; done; echo END; } >"$scratch/lp1"
    local before
    before=$(contents)
    say "without room for all of the three files none is changed, not even for a moment, and nothing is left beside them"
    local room
    for room in 120 200 300 340; do
        fill_but "$room"
        (while [[ ! -e "$scratch/enough" ]]; do contents; done >"$scratch/seen" 2>/dev/null) &
        expect 1 apply "$scratch/lp1"
        err_has "No space left"
        touch "$scratch/enough"
        wait
        rm "$scratch/enough"
        [[ $(contents) == "$before" ]] || fail "with ${room}K: $(ls -lA; cat "$scratch/err")"
        ! grep -E ' [abc]$' "$scratch/seen" | grep -vqF "$before" || fail "with ${room}K a file was changed for a moment"
    done
    rm ../filler
    say "with room it goes through"
    u apply "$scratch/lp1"
    grep -q changed c
    u undo
    [[ $(contents) == "$before" ]] || fail "$(ls -lA)"
    cd /
    end
    check_state
    umount "$scratch/small"
}

S61_S165_an_agent_fills_the_disk() {
    small_disk 64M
    mkdir "$W/d"
    for i in {1..30}; do echo "$i" >"$W/d/$i"; done
    seq 20000 >"$W/text"
    remember start
    begin
    say "the run ends as any other, though nothing can be written any more"
    u run --on-exit keep -- sh -c 'seq 9 >text; rm d/2?; echo new >d/new; cat /dev/zero >filler; true'
    fill filler2
    err_has "A  filler"
    u log
    out_has "run  sh -c seq 9"
    remember full
    u status
    u checkpoint here
    say "and is taken back, all of it, and again"
    u undo 2
    same start
    u redo
    same full
    back_and_forth
    u gc
    cd /
    end
    u -C "$W" check
    check_state
    umount "$scratch/small"
}

S165_a_full_disk_is_seen_before_anything_is_sealed() {
    small_disk 64M
    head -c 6M /dev/urandom >"$W/big"
    mkdir "$W/d"
    for i in {1..1500}; do echo "$i" >"$W/d/$i"; done
    remember start
    begin
    dd if=/dev/urandom of=big bs=1M count=6 conv=notrunc status=none
    fill filler
    remember full
    u log --all
    cp "$scratch/out" "$scratch/log"
    for what in "undo" "rollback root" "discard --yes"; do
        # shellcheck disable=SC2086
        expect 1 $what
        err_has "the disk is too full"
        err_has "Nothing was changed"
        same full
    done
    u log --all
    cmp "$scratch/out" "$scratch/log"
    say "the user can delete what is old, though it has to be noted"
    rm -r d
    say "and what is new: then there is room"
    rm filler
    u undo
    same start
    cd /
    end
    check_state
    umount "$scratch/small"
}

# overwrite FILE MIB: in place; what cannot be kept fails.
overwrite() { ! dd if=/dev/urandom of="$1" bs=64K count=$(($2 * 16)) conv=notrunc status=none 2>/dev/null || fail "all of $1 could be overwritten"; }
# history_is_kept: as "u log --all" said to $scratch/log.
history_is_kept() {
    u log --all
    cmp "$scratch/out" "$scratch/log"
}

# The disk of a task of which much was overwritten, where little was free when it was mounted.
nearly_full_task() {
    small_disk 96M
    head -c 30M /dev/urandom >"$W/big"
    remember start
    cd "$W"
    fill_but 7000
    begin
    err_has "the disk is almost full"
    overwrite big 29
    u checkpoint here
    truncate -s -500K ../filler
    head -c 300K /dev/zero >made
    overwrite big 29
    fill ../filler2
    remember full
    u log --all
    cp "$scratch/out" "$scratch/log"
}

S165_the_disk_was_nearly_full_at_the_mount() {
    nearly_full_task
    say "what fails says so, changes nothing, and names what works"
    for what in "restore big" "rollback root" "discard --yes"; do
        # shellcheck disable=SC2086
        expect 1 $what
        err_has "Nothing was changed"
        [[ $what != discard* ]] || err_has "unwrite discard --purge"
        same full
        history_is_kept
    done
    u status
    err_has "unwrite commit"
    u check
    u gc
    say "a step can still be made, and nothing is in the way of writing"
    rm made
    printf x | dd of=big conv=notrunc status=none
    u checkpoint another
    say "what is new is no trouble"
    u undo
    say "and to discard all of it for good needs no room"
    u discard --yes --purge
    same start
    echo more >more
    cd /
    end
    check_state
    umount "$scratch/small"
}

S165_a_full_disk_can_be_committed() {
    nearly_full_task
    u commit --yes
    cp "$W/big" "$scratch/big"
    overwrite big 29
    fill ../filler3
    u checkpoint there
    cp "$W/big" "$scratch/big"
    say "also while nothing is mounted"
    cd /
    end
    u -C "$W" commit --yes
    cmp "$W/big" "$scratch/big"
    check_state
    umount "$scratch/small"
}

# drop_ballast: as after a while on a full disk.
drop_ballast() {
    mkdir -p "$scratch/raw"
    mount --bind "$scratch/small" "$scratch/raw"
    truncate -s 0 "$scratch/raw/w/.unwrite/ballast"
    umount "$scratch/raw"
}

S165_without_ballast_a_failed_operation_seals_nothing() {
    small_disk 48M
    head -c 4M /dev/urandom >"$W/big"
    remember start
    begin
    dd if=/dev/urandom of=big bs=64K count=48 conv=notrunc status=none
    head -c 6M /dev/zero >made
    drop_ballast
    fill ../filler
    remember full
    u log --all
    cp "$scratch/out" "$scratch/log"
    for what in "undo" "rollback root" "discard --yes"; do
        # shellcheck disable=SC2086
        expect 1 $what
        err_has "Nothing was changed"
        same full
        history_is_kept
    done
    say "the mount can be written to"
    printf x | dd of=big conv=notrunc status=none
    say "and what is new frees its room"
    rm made
    u undo
    same start
    u redo
    say "with no room at all a step can be made, and all of it accepted"
    drop_ballast
    fill ../filler2
    u checkpoint here
    u commit --yes
    cd /
    end
    check_state
    umount "$scratch/small"
}

available() { df --output=avail -k "$scratch/small" | tail -1; }
S61_S165_an_agent_leaves_the_last_room_to_the_user() {
    small_disk 64M
    echo old >"$W/old"
    remember start
    begin
    u run --on-exit keep -- sh -c 'cat /dev/zero >filler; dd if=/dev/zero bs=4k >>filler; mkdir d; echo more >new; truncate -s 20M sparse; cat /dev/zero | dd of=sparse conv=notrunc bs=64K count=300; rm old; true'
    err_has "journal.reserve"
    local left
    left=$(available)
    ((left > 3000 && left < 8000)) || fail "$left KiB are left"
    [[ ! -e new && ! -e d && ! -e old ]] || fail "$(ls -la)"
    say "the user goes on"
    echo mine >mine
    head -c 1M /dev/zero >more
    u undo 2
    same start
    cd /
    end
    check_state
    umount "$scratch/small"
}
