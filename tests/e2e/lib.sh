# What the stories share; story.sh sources it. A story works in $scratch, its workspace is $W.
# shellcheck shell=bash
set -eEuo pipefail
export LC_ALL=C TZ=UTC GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null PYTHONDONTWRITEBYTECODE=1
export GIT_AUTHOR_NAME=story GIT_AUTHOR_EMAIL=story@example.invalid
export GIT_COMMITTER_NAME=story GIT_COMMITTER_EMAIL=story@example.invalid
export HOME=$scratch/home XDG_CONFIG_HOME=$scratch/home/.config
unset UNWRITE_SESSION
mkdir -p "$HOME"
W=$scratch/w
mkdir "$W"

trap 'printf "FAILED: line %s of %s: %s\n" "$LINENO" "${BASH_SOURCE[0]##*/}" "$BASH_COMMAND" >&2' ERR

say() { printf '* %s\n' "$*"; }
fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
skip() { printf 'SKIPPED: %s\n' "$*" >&2; exit 77; }

# if_root COMMAND...: what only root can do, in a story that also a user tells (tests/README.md, "unprivileged").
if_root() { [[ $EUID != 0 ]] || "$@"; }
# needs_root WHY
needs_root() { [[ $EUID == 0 ]] || skip "it needs root $1"; }

# needs PROGRAM...: a missing program is a mistake of the set-up, not a reason to skip.
needs() {
    local program
    for program; do
        command -v "$program" >/dev/null || fail "$program is missing; run tools/setup"
    done
}

unwrite() { "$program" "$@"; }

# A confined run has directories of its own for temporary files, and does not see a checkout that lies
# in one of the machine's: those stories in which a run starts the program are told to show it.
export in_sight=
case $program in
    /tmp/* | /var/tmp/*) in_sight="--write $(dirname "$program") --write $here" ;;
esac

# u ARGUMENTS...: unwrite, shown, in the directory where the story stands; must succeed. The output is in $scratch/out.
u() { expect 0 "$@"; }

# expect CODE ARGUMENTS...: unwrite must end with this code.
expect() {
    local wanted=$1 code=0
    shift
    "$program" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null || code=$?
    printf '$ unwrite %s%s\n' "$*" "$([[ $wanted == 0 ]] || printf '   (%s)' "$code")"
    if [[ $code != "$wanted" ]]; then
        cat "$scratch/out" "$scratch/err" >&2
        fail "unwrite $* ended with $code, not $wanted"
    fi
}
out_has() { grep -qF -- "$1" "$scratch/out" || { cat "$scratch/out" >&2; fail "the output has no \"$1\""; }; }
out_lacks() { ! grep -qF -- "$1" "$scratch/out" || { cat "$scratch/out" >&2; fail "the output has \"$1\""; }; }
err_has() { grep -qF -- "$1" "$scratch/err" || { cat "$scratch/err" >&2; fail "the messages have no \"$1\""; }; }
# json EXPRESSION: a Python expression about `j`, the JSON output; must be true.
json() {
    python3 -IS -c 'import json, sys; j = json.load(open(sys.argv[1])); sys.exit(0 if eval(sys.argv[2]) else 1)' \
        "$scratch/out" "$1" || { head -c 4000 "$scratch/out" >&2; fail "not so: $1"; }
}
json_value() {
    python3 -IS -c 'import json, sys; j = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$scratch/out" "$1"
}

# equal FILE TEXT: the file holds this text and nothing else (a newline at the end may be there or not).
equal() { [[ $(cat -- "$1") == "$2" ]] || fail "$1 holds \"$(head -c 200 -- "$1")\", not \"$2\""; }
absent() { [[ ! -e $1 && ! -L $1 ]] || fail "$1 should not be there"; }
present() { [[ -e $1 || -L $1 ]] || fail "$1 should be there"; }

daemon=
# observed WHY: this story says what happens where each write is a request, whatever data path is wished for.
observed() { export UNWRITE_DATA_PATH=observed; }
# usual WHY: this story holds in the usual mode, whatever mode is asked for (tests/README.md).
usual() { unset UNWRITE_DATA_PATH UNWRITE_CACHES UNWRITE_COMPRESS_AFTER UNWRITE_SPIN UNWRITE_IDLE; }
# begin [OPTIONS]: mounts over $W and goes in.
begin() {
    cd /
    expect 0 --json mount "$W" "$@"
    daemon=$(<"$scratch/out")
    [[ $daemon =~ \"pid\":\ *([0-9]+) ]] || fail "the mount does not say which process it is"
    daemon=${BASH_REMATCH[1]}
    echo "$daemon" >>"$scratch/daemons"
    is_mounted "$W" || fail "$W is not mounted"
    cd "$W"
}
# end: out of the workspace and unmounted.
end() {
    cd /
    u unmount "$W"
    ! is_mounted "$W" || fail "$W is still mounted"
}
# crash: the daemon is killed and waited for; the mount is dead afterwards.
crash() {
    kill -KILL "$daemon" 2>/dev/null || true
    while kill -0 "$daemon" 2>/dev/null; do sleep 0.01; done
    cd /
}
# is_mounted DIR: a FUSE filesystem answers there (the number is its magic).
is_mounted() { [[ $(stat -f -c %t -- "$1" 2>/dev/null) == 65735546 ]]; }

# traced_by STRACE: it has taken hold of the daemon, of each thread by itself; or it has ended.
traced_by() {
    while kill -0 "$1" 2>/dev/null && grep -qs "^TracerPid:.0$" /proc/"$daemon"/task/*/status; do sleep 0.05; done
}

# remember NAME [DIR] and same NAME [DIR]: the whole tree, as tests/e2e/walker.py sees it.
remember() { walk remember "${2:-$W}" "$scratch/$1.seen" "${2:-$W}" >/dev/null; }
same() {
    walk same "$scratch/$1.seen" "${2:-$W}" "${2:-$W}" >"$scratch/differences" ||
        { cat "$scratch/differences" >&2; fail "the tree is not as at $1${3:+ ($3)}"; }
    printf '  = %s\n' "$1"
}
differs() {
    ! walk same "$scratch/$1.seen" "${2:-$W}" "${2:-$W}" >"$scratch/differences" || fail "the tree is as at $1"
}
walk() {
    local mounted=()
    ! is_mounted "$4" || mounted=(--mounted)
    python3 -IS "$here/walker.py" "${mounted[@]}" "$1" "$2" "$3"
}

# three_steps STEP1 STEP2 STEP3: three commands, each after a checkpoint (a, b, c), then every way back and forth.
# The tree is compared with what it was at each of the four moments. The workspace must be mounted, the task clean.
three_steps() {
    remember s0
    u checkpoint a
    "$1"
    remember s1
    u checkpoint b
    "$2"
    remember s2
    u checkpoint c
    "$3"
    remember s3
    differs s0
    back_and_forth
}
back_and_forth() {
    u undo
    same s2
    u redo
    same s3
    u rollback c
    same s2
    u rollback b
    same s1
    u rollback a
    same s0
    u redo 3
    same s3
    u discard --yes
    same s0
    u redo 3
    same s3
    u discard --yes
    same s0
    end
    same s0
    check_state
}
# check_state: the journal itself is sound (the workspace is not mounted).
check_state() {
    u -C "$W" check
    out_has "no problems"
}

# small_disk SIZE: a small filesystem of its own; the workspace is a directory there, so that room can be taken and given beside it.
small_disk() {
    needs_root "to mount a filesystem"
    mkdir "$scratch/small"
    truncate -s "$1" "$scratch/disk"
    if ! { command -v mkfs.ext4 >/dev/null && mkfs.ext4 -q "$scratch/disk" &&
        mount -o loop "$scratch/disk" "$scratch/small"; } 2>/dev/null; then
        mount -t tmpfs -o size="$1" tmpfs "$scratch/small"
    fi
    W=$scratch/small/w
    mkdir "$W"
}

# as_nobody: runs the script on stdin as a user without privileges, in /. 77 from it: skipped, for what it printed last.
as_nobody() {
    needs_root "to become somebody else"
    needs setpriv fusermount3 unshare
    # In a mount namespace of its own /dev/fuse can be opened by everybody, as it is on most systems.
    mkdir "$scratch/dev"
    mount -t tmpfs -o dev tmpfs "$scratch/dev"
    mknod -m 666 "$scratch/dev/fuse" c 10 229
    { echo 'set -eux; cd /' && cat; } >"$scratch/as-nobody"
    chmod 755 "$scratch/as-nobody"
    chown -R nobody "$W" "$scratch/home"
    export W
    local code=0
    unshare -m bash -c 'mount --bind "$scratch/dev/fuse" /dev/fuse && (exec 3<>/dev/fuse) &&
        setpriv --reuid=nobody --clear-groups bash "$scratch/as-nobody"' >"$scratch/log" 2>&1 || code=$?
    [[ $code != 77 ]] || skip "$(tail -n 1 "$scratch/log")"
    [[ $code == 0 ]] || { cat "$scratch/log" >&2; fail "ended with $code"; }
}

# project: a small workspace: files of several sizes, directories, a link of each kind, attributes.
project() {
    mkdir -p "$W/src/deep" "$W/empty"
    printf 'one\ntwo\nthree\n' >"$W/notes.txt"
    printf 'int main(void) { return 0; }\n' >"$W/src/main.c"
    seq 1000 >"$W/src/deep/numbers"
    head -c 300000 /dev/urandom >"$W/blob"
    : >"$W/nothing"
    ln -s notes.txt "$W/symlink"
    ln "$W/src/main.c" "$W/hard"
    chmod 750 "$W/src/deep"
    setfattr -n user.colour -v green "$W/notes.txt"
    touch -d '2001-02-03 04:05:06.789012345' "$W/notes.txt" "$W/src"
}

# c_project DIR FILES: C sources with a Makefile and a build.ninja.
c_project() {
    local i
    mkdir -p "$1/src"
    for i in $(seq "$2"); do
        printf '#include <stdio.h>\nint f%d(void) { return printf("%d\\n"); }\n' "$i" "$i" >"$1/src/f$i.c"
    done
    printf 'objects := $(patsubst src/%%.c,out/%%.o,$(wildcard src/*.c))\nout/libf.a: $(objects)\n\tar rcs $@ $^\n' >"$1/Makefile"
    printf 'out/%%.o: src/%%.c\n\t@mkdir -p out\n\t$(CC) -O0 -c -o $@ $<\nclean:\n\trm -rf out\n' >>"$1/Makefile"
    {
        printf 'rule cc\n  command = cc -O0 -MD -MF $out.d -c -o $out $in\n  depfile = $out.d\n  deps = gcc\n'
        printf 'rule ar\n  command = rm -f $out && ar rcs $out $in\n'
        for i in $(seq "$2"); do printf 'build nout/f%d.o: cc src/f%d.c\n' "$i" "$i"; done
        printf 'build nout/libf.a: ar'
        for i in $(seq "$2"); do printf ' nout/f%d.o' "$i"; done
        printf '\n'
    } >"$1/build.ninja"
}
