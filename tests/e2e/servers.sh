# shellcheck shell=bash
# Databases and package managers: they run, are killed, recover, and are taken back. A program that is not everywhere
# is skipped with a line.

have() {
    local program
    for program; do command -v "$program" >/dev/null || skip "there is no $program here"; done
}

S48_postgres_is_killed_and_taken_back() {
    local bin
    bin=$(find /usr/lib/postgresql -maxdepth 2 -name bin 2>/dev/null | sort | tail -n 1)
    [[ -x $bin/initdb && -x $bin/pgbench ]] || skip "there is no PostgreSQL here"
    needs_root "to become another user"
    mkdir "$W/db" "$scratch/socket"
    chown nobody "$W/db" "$scratch/socket"
    chmod 700 "$W/db"
    export PGHOST=$scratch/socket PGUSER=nobody
    pg() { setpriv --reuid=nobody --clear-groups "$bin/$@"; }
    start() {
        pg pg_ctl -D db -s -w -l db/log -o "-c listen_addresses= -c unix_socket_directories=$PGHOST" start
    }
    balances() {
        pg psql -qAt postgres -c 'SELECT (SELECT sum(abalance) FROM pgbench_accounts),
            (SELECT sum(tbalance) FROM pgbench_tellers), (SELECT sum(delta) FROM pgbench_history)'
    }
    agree() { [[ $(balances) =~ ^(-?[0-9]+)\|(-?[0-9]+)\|(-?[0-9]+)$ && ${BASH_REMATCH[1]} == "${BASH_REMATCH[2]}" &&
        ${BASH_REMATCH[1]} == "${BASH_REMATCH[3]}" ]] || fail "the balances do not agree: $(balances)"; }
    remember start
    begin
    u checkpoint empty
    pg initdb -D db -k -A trust -N >/dev/null
    start
    pg pgbench -q -i postgres 2>/dev/null
    pg pgbench -n -c 4 -t 50 postgres >/dev/null 2>&1
    agree
    pg pg_ctl -D db -s -m fast stop
    u checkpoint filled
    remember filled
    say "killed in the middle of its work it recovers, and its checksums are right"
    start
    pg pgbench -n -c 4 -T 30 postgres >/dev/null 2>&1 &
    until [[ $(pg psql -qAt postgres -c 'SELECT count(*) > 400 FROM pgbench_history') == t ]]; do :; done
    local server pid
    server=$(head -n 1 db/postmaster.pid)
    mapfile -t all < <(echo "$server" && pgrep -P "$server")
    kill -KILL "${all[@]}"
    wait $! || true
    for pid in "${all[@]}"; do while [[ -d /proc/$pid ]]; do sleep 0.05; done; done
    start
    agree
    pg pg_ctl -D db -s -m fast stop
    pg pg_checksums -D db --check >/dev/null
    u rollback filled
    same filled
    start
    agree
    [[ $(pg psql -qAt postgres -c 'SELECT count(*) FROM pgbench_history') == 200 ]] || fail "not the rows of the checkpoint"
    pg pg_ctl -D db -s -m fast stop
    u discard --yes
    same start
    end
    same start
    check_state
}

S48_redis_is_killed_and_taken_back() {
    have redis-server redis-cli
    mkdir "$W/redis"
    cli() { redis-cli -s "$scratch/redis.sock" "$@"; }
    server=
    start() {
        redis-server --dir "$W/redis" --port 0 --unixsocket "$scratch/redis.sock" --appendonly yes \
            --appendfsync always --save '' --logfile "$scratch/redis.log" &
        server=$!
        until [[ $(cli ping 2>/dev/null) == PONG ]]; do sleep 0.05; done
    }
    keys() { seq "$1" "$2" | sed 's/.*/SET key:& value:&/' | cli >/dev/null; }
    remember start
    begin
    start
    keys 1 500
    cli bgrewriteaof >/dev/null
    keys 501 600
    until [[ $(cli info persistence) == *aof_rewrite_in_progress:0* ]]; do sleep 0.05; done
    cli shutdown nosave
    wait "$server"
    u checkpoint six-hundred
    remember six-hundred
    start
    keys 601 900
    say "what was acknowledged before a kill is there after it"
    kill -KILL "$server"
    wait "$server" || true
    start
    [[ $(cli dbsize) == 900 ]] || fail "keys were lost"
    cli shutdown nosave
    wait "$server"
    u rollback
    same six-hundred
    start
    [[ $(cli dbsize) == 600 && $(cli get key:600) == value:600 ]] || fail "not the keys of the checkpoint"
    cli shutdown nosave
    wait "$server"
    u discard --yes
    same start
    end
    check_state
}

S48_cmake_with_ccache() {
    needs cmake ninja cc
    have ccache
    c_project "$W" 12
    printf 'cmake_minimum_required(VERSION 3.20)\nproject(f C)\nfile(GLOB sources src/*.c)\nadd_library(f STATIC ${sources})\n' \
        >"$W/CMakeLists.txt"
    export CCACHE_DIR=$W/.ccache
    unset CCACHE_BASEDIR CCACHE_NOHASHDIR
    begin
    one() {
        cmake -S . -B build -G Ninja -DCMAKE_C_COMPILER_LAUNCHER=ccache >/dev/null
        cmake --build build -j2 >/dev/null
    }
    two() {
        cmake --build build --target clean >/dev/null
        cmake --build build -j2 >/dev/null
        ccache --print-stats | grep -q '^direct_cache_hit.12$' || fail "the cache was not used"
    }
    three() {
        ccache -C >/dev/null
        sed -i 's/return/return 2 +/' src/f3.c
        cmake --build build -j2 >/dev/null
        [[ $(cmake --build build) == *"no work to do"* ]]
    }
    three_steps one two three
}

# fast-import reads the commits of branch $1 from $2 on: commit N appends a line to one of ten files.
stream_of_commits() {
    awk -v branch="$1" -v parent="$2" -v count="$3" -v word="$4" 'BEGIN {
        for (i = 1; i <= count; i++) {
            file = word "-" (i % 10)
            text[file] = text[file] word " " i "\n"
            printf "commit refs/heads/%s\ncommitter A <a@b> %d +0000\ndata %d\n%s\n", branch, 1700000000 + i, length(word " " i), word " " i
            if (i == 1 && parent != "") printf "from %s\n", parent
            printf "M 100644 inline %s\ndata %d\n%s\n", file, length(text[file]), text[file]
        }
    }'
}

S48_git_rebase_of_five_hundred_commits() {
    needs git
    git -C "$W" init -q -b main
    git -C "$W" config user.name A
    git -C "$W" config user.email a@b
    git -C "$W" config gc.auto 0
    stream_of_commits main "" 1 base | git -C "$W" fast-import --quiet
    stream_of_commits topic refs/heads/main 500 topic | git -C "$W" fast-import --quiet
    stream_of_commits main refs/heads/main^0 20 main | git -C "$W" fast-import --quiet
    git -C "$W" reset -q --hard
    git -C "$W" checkout -q topic
    begin
    one() {
        git rebase -q main
        [[ $(git rev-list --count main..topic) == 500 && -z $(git status --porcelain) ]]
        [[ $(wc -l <topic-0) == 50 && $(wc -l <main-0) == 2 ]]
    }
    two() { git gc -q && git fsck --full --strict; }
    three() { git reset -q --hard HEAD~250 && [[ $(wc -l <topic-0) == 25 ]]; }
    three_steps one two three
}

S48_python_venv() {
    local python
    for python in /usr/bin/python3 python3 none; do
        "$python" -c 'import venv' 2>/dev/null && break
    done
    [[ $python != none ]] || skip "this Python has no venv"
    begin
    one() {
        "$python" -m venv --without-pip venv
        [[ $(venv/bin/python -c 'import sys; print(sys.prefix)') == "$W/venv" ]]
    }
    two() {
        mkdir -p package
        echo 'answer = 42' >package/__init__.py
        cp -r package "$(venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
        PYTHONDONTWRITEBYTECODE='' venv/bin/python -c 'import package; assert package.answer == 42'
        present package/__pycache__
    }
    three() { "$python" -m venv --without-pip --clear --copies venv; }
    three_steps one two three
}

S48_numeric_owners_and_all_attributes() {
    needs_root "to give files away"
    needs tar rsync setfacl setfattr
    local tree=$scratch/tree
    mkdir -p "$tree/shared"
    for i in $(seq 40); do
        echo "$i" >"$tree/shared/$i"
        chown "$((i * 1000)):$((i * 1001))" "$tree/shared/$i"
        touch -d "19$((i + 50))-01-02 03:04:05.$((i + 100))" "$tree/shared/$i"
    done
    setfattr -n user.from -v outside "$tree/shared/1"
    setfacl -m u:1234:rw,g:4321:r "$tree/shared/2"
    setfacl -d -m u:1234:rwx "$tree/shared"
    ln "$tree/shared/3" "$tree/hard"
    ln -s shared/4 "$tree/symbolic"
    mkfifo "$tree/fifo"
    chmod 6755 "$tree/shared/5"
    chmod 1777 "$tree/shared"
    # rsync leaves a time alone that differs by less than a second.
    touch -h -d '2001-02-03 04:05:06.789' "$tree/symbolic" "$tree/fifo" "$tree/shared" "$tree"
    remember outside "$tree"
    tar -C "$tree" --numeric-owner --xattrs --acls -cf "$scratch/all.tar" .
    begin
    one() {
        mkdir in
        rsync -aHAX --numeric-ids "$tree/" in/
        rsync -aHAX --numeric-ids in/ "$scratch/back/"
        same outside "$scratch/back"
        [[ -z $(rsync -aHAXn --numeric-ids --delete --itemize-changes --checksum "$tree/" in/) ]] || fail "rsync would go on"
    }
    two() {
        mkdir tarred
        tar -C tarred --numeric-owner --same-owner --xattrs --xattrs-include='*' --acls -xpf "$scratch/all.tar"
        tar -C tarred --numeric-owner --xattrs --acls --compare -f "$scratch/all.tar"
        same outside "$W/tarred"
    }
    three() {
        rsync -aHAX --numeric-ids --delete --inplace "$tree/shared/" tarred/
        chown -R 0:0 in
    }
    three_steps one two three
}

S48_npm_ci() {
    have npm node
    export npm_config_cache=$scratch/npm-cache npm_config_update_notifier=false npm_config_audit=false npm_config_fund=false
    mkdir -p "$W/parts"
    local i
    for i in 1 2 3; do
        mkdir "$W/parts/p$i"
        printf '{"name": "p%d", "version": "1.0.%d", "main": "i.js"}\n' "$i" "$i" >"$W/parts/p$i/package.json"
        echo "module.exports = $i;" >"$W/parts/p$i/i.js"
        tar -C "$W/parts" -czf "$W/parts/p$i-1.0.$i.tgz" --transform 's,^[^/]*,package,' "p$i"
    done
    printf '{"name": "user", "version": "1.0.0", "private": true, "dependencies": {"p1": "file:parts/p1-1.0.1.tgz", "p2": "file:parts/p2-1.0.2.tgz"}}\n' \
        >"$W/package.json"
    begin
    one() { npm install --silent --offline; }
    two() {
        rm -rf node_modules/p1/i.js
        npm ci --silent --offline
        [[ $(node -p 'require("p1") + require("p2")') == 3 ]]
    }
    three() { npm ci --silent --offline --omit=dev && npm install --silent --offline ./parts/p3-1.0.3.tgz; }
    three_steps one two three
}

S60_S85_nodes_watcher_sees_others_and_what_comes_back() {
    have node
    echo old >"$W/changed"
    echo old >"$W/removed"
    begin
    node -e '
        const fs = require("fs");
        fs.watch(process.argv[1], (event, name) => fs.writeSync(1, `${event} ${name}\n`));
        fs.writeSync(1, "watching\n");' "$W" >>"$scratch/seen" 2>&1 &
    local node=$!
    seen() {
        local turn
        for turn in $(seq 1200); do
            grep -qxF -- "$1" "$scratch/seen" && return
            sleep 0.05
        done
        fail "node has not seen \"$1\", but: $(cat "$scratch/seen")"
    }
    seen watching
    say "what other processes do through the mount"
    echo new >changed
    seen "change changed"
    rm removed
    seen "rename removed"
    echo new >made
    seen "rename made"
    say "what a restore does"
    : >"$scratch/seen"
    u discard --yes
    seen "change changed"
    seen "rename removed"
    seen "rename made"
    kill "$node"
    end
}
