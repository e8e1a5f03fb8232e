# Captured bytes are compressed when they are cold, while everything goes on.
# shellcheck shell=bash

# sources FILES: files that shrink, and one that does not.
sources() {
    touch "$W/a"
    ! cp --reflink=always "$W/a" "$W/b" 2>/dev/null || skip "blocks are shared here: nothing is compressed before it is written back"
    rm -f "$W/a" "$W/b"
    mkdir -p "$W/src"
    local i
    for i in $(seq "$1"); do
        seq "$i" 37 90000 | sed "s/^/int field_$i = /; s/\$/;/" >"$W/src/f$i.c"
    done
    head -c 300000 /dev/urandom >"$W/blob"
}
overwrite() {
    local file
    for file in "$scratch/at/src"/*.c; do tac "$file" | tr 1-5 a-e >"$file.new" && cat "$file.new" >"$file"; done
    rm "$scratch/at/src"/*.new
    head -c 300000 /dev/urandom >"$scratch/at/blob"
}
# begin_beside: the raw directory can be looked at.
begin_beside() {
    mkdir -p "$scratch/at" 2>/dev/null || true  # the last mount may be dead
    u --json mount "$W" --at "$scratch/at" --on-unfinished keep
    daemon=$(json_value 'j["pid"]')
    echo "$daemon" >>"$scratch/daemons"
}
stored() { find "$W/.unwrite/deltas" -name "$1" | wc -l; }
# twice: the deltas whose bytes are there both ways, as they are until the new ones are on the disk.
twice() {
    local packed
    for packed in "$W"/.unwrite/deltas/*.dat.zst; do
        [[ ! -e ${packed%.zst} ]] || echo "$packed"
    done
}
# compressed N: so many deltas are, and what each was before, and was written for it, is gone.
compressed() {
    local tries
    for tries in $(seq 600); do
        [[ $(stored '*.dat.zst') == "$1" && $(stored '*.new') == 0 && -z $(twice) ]] && return
        sleep 0.05
    done
    ls -l "$W/.unwrite/deltas" >&2
    fail "after $tries tries there are not $1 compressed deltas"
}

S49_S64_cold_bytes_are_compressed_and_come_back() {
    sources 60
    remember start
    export UNWRITE_COMPRESS_AFTER=0
    begin_beside
    overwrite
    remember changed
    u -C "$scratch/at" --json checkpoint a
    compressed 1
    absent "$W/.unwrite/deltas/1.dat"
    local bytes
    bytes=$(stat -c %s "$W/.unwrite/deltas/1.dat.zst")
    ((bytes < $(cat "$W"/src/*.c | wc -c) / 2 + 400000)) || fail "$bytes are stored"
    zstd -tq "$W/.unwrite/deltas/1.dat.zst" || [[ $? == 127 ]] || fail "zstd cannot read it"
    u -C "$scratch/at" check
    out_has "no problems"
    u -C "$scratch/at" --json status
    json 'len(j["changes"]) == 61'
    u -C "$scratch/at" diff src/f7.c
    out_has "-int field_7 = 7;"
    rm "$scratch/at/src/f9.c"
    : >"$scratch/at/src/f8.c"
    u -C "$scratch/at" restore src/f8.c src/f9.c --from root
    u -C "$scratch/at" undo
    u -C "$scratch/at" rollback a
    same changed
    u -C "$scratch/at" discard --yes
    same start
    u -C "$scratch/at" redo 9
    u -C "$scratch/at" rollback a
    same changed
    u -C "$scratch/at" commit --yes src/f1.c src/f2.c
    u -C "$scratch/at" discard --yes
    u unmount "$scratch/at"
    check_state
    cmp -s "$W/src/f1.c" "$W/src/f3.c" && fail "they are not the same"
    equal <(head -n 1 "$W/src/f3.c") "int field_3 = 3;"
    [[ $(head -n 1 "$W/src/f2.c") != "int field_2 = 2;" ]] || fail "what was kept is kept"
}

S49_nothing_is_compressed_where_that_is_off() {
    sources 12
    mkdir -p "$XDG_CONFIG_HOME/unwrite"
    printf '[journal]\ncompress = "off"\n' >"$XDG_CONFIG_HOME/unwrite/unwrite.toml"
    export UNWRITE_COMPRESS_AFTER=0
    begin_beside
    overwrite
    u -C "$scratch/at" checkpoint a
    sleep 1
    present "$W/.unwrite/deltas/1.dat"
    [[ $(stored '*.zst*') == 0 ]] || fail "something is compressed"
    u unmount "$scratch/at"
}

S67_killed_while_it_compresses() {
    sources 12
    remember start
    local point
    for point in begun written verified renamed synced raw-removed; do
        say "$point"
        export UNWRITE_COMPRESS_AFTER=0
        UNWRITE_CRASH_AT=pack.$point:1 begin_beside
        overwrite
        remember changed
        "$program" -C "$scratch/at" checkpoint "$point" >/dev/null 2>&1 || true
        while kill -0 "$daemon" 2>/dev/null; do sleep 0.01; done
        unset UNWRITE_COMPRESS_AFTER
        begin_beside
        same changed
        u -C "$scratch/at" rollback "$point"
        same changed
        u -C "$scratch/at" discard --yes --purge
        same start
        u unmount "$scratch/at"
        check_state
        [[ $(stored '*') == 1 ]] || { ls "$W/.unwrite/deltas" >&2; fail "something is left"; }
    done
}
