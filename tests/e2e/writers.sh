# Real programs write; everything is taken back. (lib.sh: three_steps goes all ways between the states.)
# shellcheck shell=bash

S47_S76_S77_git() {
    needs git
    local source=$scratch/source
    c_project "$source" 40
    git -C "$source" init -q -b main
    local i
    for i in 1 2 3 4 5 6; do
        echo "/* $i */" >>"$source/src/f$i.c"
        git -C "$source" add -A
        git -C "$source" commit -q -m "change $i"
    done
    git -C "$source" branch side HEAD~3
    begin
    one() {
        git clone -q "$source" clone
        cd clone
        git checkout -q side
        echo "/* on the side */" >>src/f20.c
        git commit -q -a -m "side work"
        git stash list
        cd "$W"
    }
    two() {
        cd clone
        git rebase -q main
        git checkout -q -b conflict HEAD~2
        echo "/* other */" >>src/f20.c
        git commit -q -a -m other
        git merge side >/dev/null 2>&1 && fail "there should be a conflict"
        git status --porcelain | grep -q '^UU'
        cd "$W"
    }
    three() {
        cd clone
        git merge --abort
        echo dirty >>src/f1.c
        git add src/f1.c
        echo unstaged >>src/f1.c
        git stash -q
        git checkout -q main
        git -c gc.auto=0 gc -q --prune=now
        git worktree add -q ../tree side
        cd "$W"
    }
    three_steps one two three
}

S47_S76_git_index_and_stash_are_as_they_were() {
    needs git
    c_project "$W" 10
    git -C "$W" init -q -b main
    git -C "$W" add -A
    git -C "$W" commit -q -m start
    echo stashed >>"$W/src/f1.c"
    git -C "$W" stash -q
    echo staged >>"$W/src/f2.c"
    git -C "$W" add src/f2.c
    echo unstaged >>"$W/src/f2.c"
    echo untracked >"$W/untracked"
    look() { git -C "$W" --no-optional-locks status --porcelain=v2; git -C "$W" stash list; git -C "$W" rev-parse HEAD; }
    look >"$scratch/before"
    remember start
    begin
    u status
    out_has "git: on main"
    git stash -q -u
    git stash pop -q stash@{1}
    git commit -q -a -m "an agent's commit"
    git checkout -q -b elsewhere
    git clean -fdxq
    rm -rf src
    u discard --yes
    same start
    look | diff - "$scratch/before" || fail "git sees it differently"
    end
    look | diff - "$scratch/before"
    git -C "$W" fsck --full --strict
}

S47_S76_a_merge_in_progress_and_submodules() {
    needs git
    local source=$scratch/source
    c_project "$source" 3
    git -C "$source" init -q -b main
    git -C "$source" add -A
    git -C "$source" commit -q -m library
    c_project "$W" 5
    git -C "$W" init -q -b main
    git -C "$W" add -A
    git -C "$W" commit -q -m start
    git -C "$W" -c protocol.file.allow=always submodule --quiet add "file://$source" library
    git -C "$W" commit -q -a -m "with a submodule"
    git -C "$W" checkout -q -b side
    echo "/* side */" >>"$W/src/f1.c"
    git -C "$W" commit -q -a -m side
    git -C "$W" checkout -q main
    echo "/* main */" >>"$W/src/f1.c"
    git -C "$W" commit -q -a -m main
    echo "/* staged */" >>"$W/src/f2.c"
    git -C "$W" add src/f2.c
    git -C "$W" commit -q -m more
    say "the task begins in the middle of a merge with a conflict, with a dirty submodule"
    ! git -C "$W" merge side >/dev/null 2>&1 || fail "there should be a conflict"
    echo "/* in the library */" >>"$W/library/src/f1.c"
    git -C "$W/library" add src/f1.c
    echo "/* not staged */" >>"$W/library/src/f1.c"
    look() {
        local where
        for where in "$W" "$W/library"; do
            git -C "$where" --no-optional-locks status --porcelain=v2
            git -C "$where" ls-files --stage
            git -C "$where" rev-parse HEAD MERGE_HEAD 2>&1 || true
            git -C "$where" stash list
        done
    }
    look >"$scratch/before"
    grep -q '^u UU' "$scratch/before" || fail "there is no conflict in the index"
    remember start
    begin
    one() {
        git checkout -q --theirs src/f1.c
        git add src/f1.c
        git commit -q -m merged
    }
    two() {
        git -C library commit -q -a -m "in the library"
        git commit -q -a -m "a newer library"
        git -C library checkout -q -b other HEAD~1
        git submodule --quiet update
    }
    three() {
        git submodule --quiet deinit -f library
        git rm -q library
        rm -rf .git/modules/library
        git commit -q -m "no library"
        git reset -q --hard HEAD~3
        git clean -fdxq
    }
    three_steps one two three
    look | diff - "$scratch/before" || fail "git sees it differently"
    git -C "$W" fsck --full --strict 2>/dev/null
    git -C "$W" merge --abort
}

S48_make_and_ninja() {
    needs make ninja cc ar
    c_project "$W" 24
    begin
    one() { make -s -j2; }
    two() { ninja -j2 nout/libf.a >/dev/null; }
    three() {
        sed -i 's/return/return 1 +/' src/f1.c src/f2.c
        make -s -j2
        ninja -j2 nout/libf.a >/dev/null
        make -s clean
    }
    three_steps one two three
}

S48_make_has_nothing_to_do_after_undo() {
    needs make cc ar
    c_project "$W" 6
    make -s -C "$W"
    begin
    u checkpoint built
    say "times come back exactly, so make sees that all is up to date"
    sed -i 's/return/return 1 +/' src/f1.c
    make -s
    u undo
    make -q || fail "make would build again"
    end
}

S48_npm_install() {
    needs npm node
    local package=$scratch/left
    mkdir -p "$package/lib"
    printf '{"name": "left", "version": "1.2.3", "main": "lib/index.js", "bin": {"left": "lib/cli.js"}, "scripts": {}}\n' \
        >"$package/package.json"
    printf 'module.exports = (s, n) => String(s).padStart(n);\n' >"$package/lib/index.js"
    printf '#!/usr/bin/env node\nconsole.log(require("./index.js")(process.argv[2], 5));\n' >"$package/lib/cli.js"
    local i
    for i in $(seq 200); do printf 'exports.n = %d;\n' "$i" >"$package/lib/part$i.js"; done
    export npm_config_cache=$scratch/npm-cache npm_config_update_notifier=false npm_config_audit=false npm_config_fund=false
    (cd "$package" && npm pack --silent --offline --pack-destination "$scratch" >/dev/null)
    printf '{"name": "user", "version": "1.0.0", "private": true}\n' >"$W/package.json"
    begin
    one() { npm install --silent --offline "$scratch/left-1.2.3.tgz"; }
    two() {
        [[ $(node_modules/.bin/left x) == "    x" ]]
        npm pkg set scripts.greet="echo hello"
    }
    three() { npm uninstall --silent --offline left; }
    three_steps one two three
}

S48_sqlite_in_wal_mode() {
    needs sqlite3
    sqlite3 "$W/old.db" 'create table t(a integer primary key, b text); insert into t values (1, "before");'
    begin
    one() {
        sqlite3 new.db 'pragma journal_mode=wal; create table t(a integer primary key, b text);' >/dev/null
        python3 - <<'PYTHON'
import sqlite3
for path in ("new.db", "old.db"):
    db = sqlite3.connect(path)
    for i in range(10, 60):
        with db:
            db.executemany("insert into t values (?, ?)", [(i * 100 + j, "x" * j) for j in range(20)])
    db.close()
PYTHON
    }
    two() {
        # Two connections on one database in WAL mode, which stays open: -wal and -shm are there.
        python3 - <<'PYTHON'
import os, sqlite3
one, other = (sqlite3.connect("new.db", timeout=20) for _ in range(2))
with one:
    one.execute("update t set b = b || 'y' where a % 2")
reading = other.execute("select count(*) from t").fetchone()
with other:
    other.execute("delete from t where a % 3 = 0")
assert one.execute("pragma integrity_check").fetchone() == ("ok",)
os._exit(0)
PYTHON
        present new.db-wal
    }
    three() {
        sqlite3 new.db 'pragma wal_checkpoint(truncate); vacuum; pragma journal_mode=delete;' >/dev/null
        sqlite3 old.db 'drop table t; vacuum;'
    }
    three_steps one two three
    [[ $(sqlite3 "$W/old.db" 'select b from t; pragma integrity_check;') == $'before\nok' ]]
}

S48_editors() {
    needs vim sed perl
    seq 100 >"$W/text"
    seq 100 >"$W/safe"
    seq 100 >"$W/perl"
    chmod 640 "$W/text"
    setfattr -n user.keep -v me "$W/safe"
    begin
    one() {
        vim -n -u NONE -es -c '%s/5/five/g' -c 'set backup backupcopy=no' -c wq text </dev/null
        vim -u NONE -es -c 'set backupcopy=yes' -c '%s/7/seven/g' -c wq safe </dev/null
        grep -q five text
        grep -q seven safe
    }
    two() {
        sed -i 's/1/one/' text safe
        sed -i.orig 's/2/two/' safe
        perl -pi -e 's/3/three/' perl
    }
    three() {
        # An atomic save: a temporary file, synced, over the old one, and the directory synced.
        python3 - <<'PYTHON'
import os, shutil
for name in ("text", "safe", "perl"):
    for turn in range(20):
        with open(name + ".tmp", "w") as file:
            file.write(open(name).read().replace("4", "four") + str(turn))
            file.flush()
            os.fsync(file.fileno())
        shutil.copystat(name, name + ".tmp")
        os.replace(name + ".tmp", name)
    here = os.open(".", os.O_RDONLY)
    os.fsync(here)
    os.close(here)
PYTHON
    }
    three_steps one two three
}

S48_tar_rsync_and_cp() {
    needs tar rsync
    c_project "$scratch/tree" 300
    ln -s f1.c "$scratch/tree/src/link"
    ln "$scratch/tree/src/f1.c" "$scratch/tree/src/hard"
    touch -d '2005-05-05 05:05:05.5' "$scratch/tree/src/f2.c"
    tar -C "$scratch/tree" -cf "$scratch/tree.tar" .
    begin
    one() {
        mkdir tarred
        tar -C tarred -xf "$scratch/tree.tar"
        cp -a tarred copied
    }
    two() {
        tar -C tarred -xf "$scratch/tree.tar" --overwrite
        rsync -aH --delete "$scratch/tree/src/" copied/
        rsync -a --inplace --checksum "$scratch/tree/Makefile" tarred/src/f3.c
    }
    three() {
        rm -rf copied
        cp -al tarred copied
        echo through >>copied/src/f9.c
        mv tarred/src elsewhere
    }
    three_steps one two three
}

S49_S79_rm_rf_of_twenty_thousand_files() {
    local files=20000
    python3 - "$W/big" $files <<'PYTHON'
import os, sys
top, count = sys.argv[1], int(sys.argv[2])
for i in range(count):
    folder = f"{top}/{i // 400}/{i // 40 % 10}"
    if i % 40 == 0:
        os.makedirs(folder)
    with open(f"{folder}/{i}", "w") as file:
        file.write(str(i) if i % 3 else "")
PYTHON
    remember s0
    begin
    u checkpoint before
    local from=$SECONDS
    rm -rf big
    say "rm -rf of $files files took $((SECONDS - from)) s"
    absent big
    from=$SECONDS
    u undo
    say "undo took $((SECONDS - from)) s"
    same s0
    u redo
    absent big
    u rollback before
    mv big/1 big/moved
    rm -rf big
    u discard --yes
    end
    same s0
    check_state
}

S60_an_editor_is_named_before_its_swap_file_goes() {
    echo one >"$W/a"
    mkdir "$W/src"
    begin
    u checkpoint before
    echo two >a
    u undo --dry-run
    [[ ! -s $scratch/err ]] || fail "nobody edits here: $(cat "$scratch/err")"
    python3 -c 'import sys, time; file = open(sys.argv[1], "w"); file.write("typed"); file.flush(); print(flush=True); time.sleep(60)' \
        "$W/src/.b.swp" >"$scratch/ready" &
    local editor=$!
    until [[ -s $scratch/ready ]]; do sleep 0.05; done
    say "as what would happen, and as what happens"
    u undo --dry-run
    err_has "(process $editor) is editing here, and this takes along its swap file src/.b.swp"
    u rollback before
    err_has "(process $editor) is editing here"
    absent src/.b.swp
    equal a one
    u redo
    equal src/.b.swp typed
    kill "$editor"
    wait "$editor" || true
    u discard --yes
    [[ $(cat "$scratch/err") != *editing* ]] || fail "nobody edits any more"
    end
}

# read_in DIR: whether reading moves the access time of a file, by each way to open it.
read_in() {
    python3 -IS - "$1" <<'END'
import os, sys
os.chdir(sys.argv[1])
for name, flags in (("quiet", os.O_NOATIME), ("read", 0)):
    before = os.stat(name).st_atime_ns
    file = os.open(name, os.O_RDONLY | flags)
    assert len(os.read(file, 1000)) == 5
    os.close(file)
    print(name, os.stat(name).st_atime_ns != before)
END
}

S73_reading_moves_access_times_as_in_a_plain_directory() {
    mkdir "$scratch/plain"
    for file in "$W"/{quiet,read} "$scratch/plain"/{quiet,read}; do
        echo text >"$file"
        touch -a -d 2020-01-01 "$file"
        touch -m -d 2021-01-01 "$file"
    done
    begin
    read_in "$W" >"$scratch/mounted"
    read_in "$scratch/plain" >"$scratch/expected"
    grep -qx "quiet False" "$scratch/expected" || fail "O_NOATIME means nothing in $scratch"
    diff "$scratch/expected" "$scratch/mounted" || fail "the access times moved otherwise"
    end
}
