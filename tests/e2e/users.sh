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
