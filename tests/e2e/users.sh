# shellcheck shell=bash
# A user without privileges: the daemon is that user too, and the mount goes through fusermount3.

S75_a_user_without_privileges() {
    project
    chown -R nobody "$W"
    remember start
    as_nobody <<'SCRIPT'
"$program" mount "$W"
cd "$W"
echo x >>notes.txt
rm blob
"$program" checkpoint a
: >src/main.c
"$program" undo
test -s src/main.c
"$program" discard --yes
test -s blob
cd /
"$program" unmount "$W"
SCRIPT
    same start
}

S21_S75_an_edit_without_permission_says_so() {
    echo kept >"$W/closed"
    as_nobody <<'SCRIPT'
"$program" mount "$W"
cd "$W"
chmod 000 closed
! "$program" edit closed --old kept --new lost 2>why
grep -F "closed: permission denied" why
chmod 644 closed
grep kept closed
cd /
"$program" unmount "$W"
SCRIPT
}

# The daemon is that user as well, and has to get at what it closed.
S73_S75_modes_that_forbid_their_owner() {
    project
    mkdir -p "$W/deep/er"
    echo one >"$W/deep/er/file"
    chmod 444 "$W/deep/er/file"
    chown -R nobody "$W"
    remember start
    as_nobody <<'SCRIPT'
"$program" mount "$W"
cd "$W"
chmod 600 deep/er/file
echo two >deep/er/file
mkdir deep/er/new
mv notes.txt deep/er/
chmod 000 deep/er/file deep/er/new deep/er/notes.txt deep/er
chmod 000 deep
"$program" checkpoint closed
chmod 700 deep deep/er
mkdir -m 000 deep/er/over
mv -T deep/er/new deep/er/over
rm -r deep
"$program" rollback
test "$(stat -c %a deep)" = 0
chmod 700 deep
test "$(stat -c %a deep/er)" = 0
chmod 700 deep/er
test "$(stat -c %a.%s deep/er/file)" = 0.4
chmod 000 deep/er deep
"$program" discard --yes
cd /
"$program" unmount "$W"
SCRIPT
    same start
}

# Attributes that may not be read, and names in what may not be searched.
S73_S75_what_is_closed_comes_back_and_goes_again() {
    needs setfattr setfacl
    mkdir -p "$W/d/sub" "$W/closed/in"
    echo secret >"$W/closed/in/secret"
    setfattr -n user.d -v 1 "$W/d"
    setfacl -d -m u:3:rwx "$W/d"
    chmod 300 "$W/d"
    chmod 000 "$W/closed"
    chown -R nobody "$W"
    remember start
    as_nobody <<'SCRIPT'
"$program" mount "$W"
cd "$W"
chmod 700 closed
echo new >closed/in/new
rm closed/in/secret
chmod 000 closed
chmod 700 d
setfattr -n user.d -v 2 d
mkdir d/new
rmdir d/sub
chmod 000 d
"$program" checkpoint closed
"$program" rollback root
test "$(stat -c %a d)" = 300
"$program" rollback closed
test "$(stat -c %a d)" = 0
"$program" undo
"$program" redo
"$program" discard --yes
cd /
"$program" unmount "$W"
SCRIPT
    same start
}

# A mode that is lent stays when the daemon is killed in that moment: for a look alone none is.
S73_S75_no_mode_is_lent_to_look() {
    needs strace
    mkdir "$W/d"
    touch "$W"/d/{1..50}
    chmod 300 "$W/d"
    chown -R nobody "$W"
    remember start
    as_nobody <<'SCRIPT'
"$program" mount "$W"
rm "$W"/d/{1..50}
"$program" unmount "$W"
strace -o /dev/null true || exit 77
strace -f -qq -o "$HOME/trace" "$program" -C "$W" rollback root
# Some versions of strace know the newest chmod by its number.
! grep -E "chmod.* 0700|syscall_0x1c4.* 0x1c0," "$HOME/trace"
SCRIPT
    same start
}

# Root in a user namespace of its own, who is nobody outside: the kernel lets it mount in a mount namespace of its own.
S75_root_of_a_user_namespace() {
    project
    chown -R nobody "$W"
    remember start
    as_nobody <<'SCRIPT'
unshare --user --map-root-user --mount true || { echo "no user namespaces here"; exit 77; }
unshare --user --map-root-user --mount bash -eux -c '
"$program" mount "$W"
cd "$W"
test "$(id -u)" = 0
echo x >>notes.txt
chmod 600 blob
mkdir made
"$program" checkpoint a
rm -r src
"$program" undo
test -s src/main.c
"$program" discard --yes
cd /
"$program" unmount "$W"'
code=0
unshare --user --map-root-user "$program" mount "$W" 2>"$HOME/said" || code=$?
test "$code" = 1
grep -q "mount namespace of its own" "$HOME/said"
SCRIPT
    same start
}

S48_S76_the_limit_of_who_mounts_is_not_that_of_who_writes() {
    head -c 3000000 /dev/urandom >"$W/big"
    remember start
    (
        ulimit -S -f 1000
        "$program" mount "$W" >/dev/null
    )
    cd "$W"
    head -c 2500000 /dev/zero >more
    head -c 3000000 /dev/zero >big
    [[ $(stat -c %s more) == 2500000 ]] || fail "the file was cut"
    u discard --yes
    same start
    end
}
