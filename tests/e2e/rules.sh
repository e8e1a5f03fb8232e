# The rules in everyday work: what the user does goes through and comes back, what an agent is refused says why.
# shellcheck shell=bash

# tracked: a repository whose branches differ in keys and .env files, in $W.
tracked() {
    needs git
    git -C "$W" init -q -b main
    mkdir -p "$W/app/core"
    echo a >"$W/app/core/a"
    echo A= >"$W/.env.example"
    echo one >"$W/server.key"
    echo one >"$W/.env.test"
    git -C "$W" add -A
    git -C "$W" commit -qm one
    git -C "$W" switch -qc other
    echo two >"$W/server.key"
    rm "$W/.env.test"
    echo two >"$W/.env.more"
    git -C "$W" add -A
    git -C "$W" commit -qm two
    git -C "$W" switch -q main
}

S40_S42_S44_the_users_own_secrets_are_captured() {
    tracked
    remember start
    begin
    say "git ends with what it should have"
    git switch -q other
    equal server.key two
    equal .env.more two
    absent .env.test
    git switch -q main
    echo three >server.key
    echo three >.env.test
    git stash -q
    equal server.key one
    git stash pop -q
    equal .env.test three
    git commit -qam three
    [[ -z $(git status --porcelain) ]] || fail "git status: $(git status --porcelain)"
    say "and so does everything else the user does, a hook too"
    cp .env.example .env
    equal .env A=
    printf '#!/bin/sh\ntouch "$(git rev-parse --show-toplevel)/hooked"\n' >.git/hooks/pre-commit
    chmod +x .git/hooks/pre-commit
    git commit -q --allow-empty -m four
    present hooked
    echo dump >core
    mv .env .env.old
    ln server.key server.pem
    say "through a mapping"
    python3 -c 'import mmap, os
fd = os.open("server.key", os.O_RDWR)
with mmap.mmap(fd, 0) as m:
    m[0:1] = b"M"
    m.flush()'
    equal server.pem Mhree
    u --json status
    json '{"server.key", ".env.old", "core"} <= {c["path"] for c in j["changes"]}'
    u discard --yes
    same start
    u redo
    equal server.key Mhree
    u discard --yes
    end
    same start
}

S44_a_directory_called_core_is_a_directory() {
    tracked
    git clone -q "$W" "$scratch/origin"
    (cd "$scratch/origin" && git switch -q main 2>/dev/null)
    begin
    local as
    for as in "" "$program run --no-confine --on-exit keep --"; do
        say "${as:-as the user}"
        $as sh -c 'mkdir -p src/core/core.1 && echo a >src/core/a && echo b >src/core/core.1/b && mv src/core src/other &&
            mkdir core && ln -s core src/core && rm src/core && mv src/other/a core/a && rm -r src core'
    done
    say "a clone as the user is whole"
    git clone -q "$scratch/origin" mine
    diff -r --exclude=.git "$scratch/origin" mine
    say "a core dump is still not for an agent, under no name and by no way"
    expect 2 run --on-exit keep -- sh -c 'echo dump >core'
    expect 2 run --on-exit keep -- sh -c 'echo dump >core.4711'
    u run --on-exit keep -- sh -c 'mkdir -p x/core; ! echo dump >x/core/core 2>/dev/null; echo dump >free; ! mv free core 2>/dev/null; ! ln free core 2>/dev/null'
    absent core
    absent x/core/core
    echo mine >core
    u run --on-exit keep -- sh -c '! rm -f core 2>/dev/null; ln -s free link; ! mv -T link core 2>/dev/null; ! (echo x >core) 2>/dev/null'
    equal core mine
    u discard --yes
    end
}

S44_a_template_with_a_hook_does_not_stop_a_clone() {
    needs git
    git -C "$W" init -q -b main
    echo a >"$W/a"
    git -C "$W" add a
    git -C "$W" commit -qm one
    mkdir -p "$scratch/template/hooks"
    printf '#!/bin/sh\ntouch hooked\n' >"$scratch/template/hooks/post-commit"
    chmod +x "$scratch/template/hooks/post-commit"
    export GIT_TEMPLATE_DIR=$scratch/template
    begin
    say "for an agent the hook is there, and nobody can execute it"
    u run --no-confine --on-exit keep -- sh -c 'git init -q made && git clone -q . cloned'
    err_has "made/.git/hooks/post-commit  (make-executable by git)"
    local repository
    for repository in made cloned; do
        cmp "$scratch/template/hooks/post-commit" "$repository/.git/hooks/post-commit"
        [[ $(stat -c %A "$repository/.git/hooks/post-commit") != *x* ]] || fail "it can be executed"
    done
    equal cloned/a a
    git -C made commit -q --allow-empty -m one 2>/dev/null
    absent made/hooked
    say "nor does the agent make it so, in any way"
    expect 1 run --no-confine --on-exit keep -- chmod +x made/.git/hooks/post-commit
    expect 1 run --no-confine --on-exit keep -- sh -c 'echo x >y; chmod +x y; mv y made/.git/hooks/pre-commit'
    expect 1 run --no-confine --on-exit keep -- sh -c 'ln y made/.git/hooks/pre-commit'
    expect 1 run --no-confine --on-exit keep -- sh -c 'ln -s ../../../y made/.git/hooks/pre-commit'
    expect 1 run --no-confine --on-exit keep -- sh -c 'ln made/.git/hooks/post-commit z'
    expect 1 run --no-confine --on-exit keep -- setfacl -m u:0:rwx made/.git/hooks/post-commit
    absent made/.git/hooks/pre-commit
    say "in a repository that was there before nothing is written"
    expect 2 run --no-confine --on-exit keep -- sh -c 'echo x >.git/hooks/post-commit'
    absent .git/hooks/post-commit
    u run --no-confine --on-exit keep -- rm -r made
    say "for the user the clone is as anywhere"
    git clone -q . users
    [[ -x users/.git/hooks/post-commit ]] || fail "the user's hook cannot be executed"
    u discard --yes
    end
}

# agent COMMANDS: as an agent, where nobody can be asked.
agent() { "$program" run --no-confine --on-exit keep -- sh -ec "$1" >"$scratch/out" 2>"$scratch/err"; }

S44_what_git_would_execute_is_asked_about() {
    needs git
    git -C "$W" init -q -b main
    echo a >"$W/a"
    git -C "$W" add a
    git -C "$W" commit -qm one
    git -C "$W" branch other
    git -C "$W" config filter.x.clean cat
    mkdir -p "$W/.husky/_" "$W/data"
    echo 'export A=1' >"$W/.envrc"
    echo wrapper >"$W/.husky/_/h"
    git clone -q "$W" "$scratch/lib" && (cd "$scratch/lib" && echo B=1 >.envrc && git add -A && git commit -qm lib)
    remember start
    begin
    say "an agent works with git as ever"
    agent 'git remote add up https://example.com/x && git branch -q --set-upstream-to=other 2>/dev/null
        git config user.name A && git config merge.conflictStyle diff3 && git config push.default simple
        git init -q made && git clone -q . cloned && git -C cloned config core.autocrlf input
        git worktree add -q tree && git worktree remove tree
        git -c protocol.file.allow=always submodule --quiet add "'"$scratch"'/lib" lib && git commit -qm lib
        git -C lib commit -q --allow-empty -m more && git -C lib remote add up x && rm -rf made' || { cat "$scratch/err" >&2; fail "git does not work"; }
    ! grep -q Refused "$scratch/err" || { cat "$scratch/err" >&2; fail "something was refused"; }
    equal lib/.envrc B=1
    [[ $(git -C cloned config core.autocrlf) == input ]]
    say "what git would execute is refused, and the key is named"
    local setting
    for setting in "core.fsmonitor ./x" "core.hooksPath x" "core.sshCommand ./x" "core.pager ./x" "core.editor ./x" "sequence.editor ./x" \
        "alias.st !x" "filter.y.smudge ./x" "credential.helper ./x" "include.path ../x" "diff.y.textconv ./x" "merge.y.driver ./x" "gpg.program ./x" \
        "alias.st rebase" "diff.tool ../x" "core.worktree /tmp"; do
        ! agent "git config $setting" || fail "not refused: $setting"
        err_has ".git/config  (rename by git): **/.git/**/config (profile default): git runs what it names"
        # shellcheck disable=SC2086
        set -- $setting
        grep -qiF -- "$1 = $2" "$scratch/err" || { cat "$scratch/err" >&2; fail "the refusal does not name $setting"; }
        [[ -z $(git config "$1") ]] || fail "it is set: $setting"
    done
    ! agent "git -C cloned config core.fsmonitor ./x" || fail "in a repository of its own"
    ! agent "git -C lib config core.fsmonitor ./x" || fail "in a submodule"
    ! agent "printf '[core]\\nfsmonitor = ./x\\n' >>.git/config" || fail "written directly"
    ! agent "mkdir evil && cp cloned/.git/HEAD evil && ln -s ../evil .git/worktrees" || fail "a link in a repository"
    ! agent "mkdir sub && echo 'gitdir: ../evil' >sub/.git" || fail "a repository elsewhere"
    ! agent "mkdir -p sub/.unwrite" || fail "a state directory"
    ! agent "echo x >.envrc" || fail ".envrc"
    ! agent "echo x >.husky/pre-commit" || fail ".husky"
    equal .envrc 'export A=1'
    agent 'printf "wrapper\\n" >.husky/_/h && echo b >>a && git stash -q && git stash pop -q && git config filter.x.clean cat' || { cat "$scratch/err" >&2; fail "what was there is refused"; }
    say "the user may do all of it, and takes it back"
    git config core.fsmonitor false
    git config core.pager less
    echo x >.envrc
    u discard --yes
    end
    same start
}

S44_what_runs_outside_is_named_first() {
    needs git
    git -C "$W" init -q -b main
    printf '{\n  "name": "x",\n  "scripts": {\n    "test": "a"\n  }\n}\n' >"$W/package.json"
    remember start
    begin
    say "what the user changes is not named"
    mkdir .vscode
    echo '{}' >.vscode/settings.json
    u status
    out_lacks "outside the sandbox"
    say "nor what runs nothing"
    u run --no-confine --on-exit keep -- sh -ec 'echo a >a; mkdir -p .github node_modules/x/.vscode; echo b >.github/CODEOWNERS
        echo c >node_modules/x/.vscode/c; sed -i s/\"x\"/\"y\"/ package.json; git remote add o x; echo A >AGENTS.md'
    ! grep -q "outside the sandbox" "$scratch/err" || fail "something is named: $(cat "$scratch/err")"
    say "what an agent wrote is, at the head"
    u run --no-confine --on-exit keep -- sh -ec 'mkdir -p .claude sub/.github/workflows; echo x >.mcp.json; echo x >.claude/settings.json
        echo x >sub/.github/workflows/ci.yml; echo x >.vscode/tasks.json; sed -i "s/\"a\"/\"evil\"/" package.json; echo more >>a'
    err_has "Runs outside the sandbox; look at it before you use it:"
    local path
    for path in .mcp.json .claude/settings.json sub/.github/workflows/ci.yml .vscode/tasks.json "package.json  (scripts: test)"; do err_has "  ! $path"; done
    [[ $(grep -n outside "$scratch/err" | cut -d: -f1) -lt $(grep -n Created "$scratch/err" | cut -d: -f1 || echo 99) ]] || fail "it is not at the head"
    u status
    out_has "  ! .vscode/tasks.json"
    out_lacks "! AGENTS.md"
    out_lacks node_modules/x/.vscode
    u --json status
    json 'any(r["path"] == "package.json" and r["what"] == "scripts: test" for r in j["runs_outside"])'
    say "the configuration adds to it and takes from it"
    mkdir -p "$XDG_CONFIG_HOME/unwrite"
    printf '[[policy.rule]]\npattern = ".vscode"\naction = "allow"\n[[policy.rule]]\npattern = "a"\naction = "tell"\n' >"$XDG_CONFIG_HOME/unwrite/unwrite.toml"
    u policy reload
    u --json status
    json '(lambda paths: "a" in paths and not any(p.startswith(".vscode") for p in paths))({r["path"] for r in j["runs_outside"]})'
    say "what was asked about and approved is named as well"
    u policy allow --agents .git/config
    u run --no-confine --on-exit keep -- git config core.fsmonitor ./x
    err_has "  ! .git/config  (core.fsmonitor = ./x)"
    git config --unset core.fsmonitor
    say "and the commands of a rebase that an agent leaves behind"
    git add -A && git commit -qm one && git commit -q --allow-empty -m two
    u run --no-confine --on-exit keep -- sh -c 'GIT_SEQUENCE_EDITOR="sed -i \"1i break\"" git rebase -q -i --keep-empty -x ./evil HEAD~1'
    err_has "  ! .git/rebase-merge/git-rebase-todo  (exec ./evil)"
    git rebase --abort
    u discard --yes
    end
    same start
}

S44_an_empty_place_under_a_secret_name() {
    remember start
    begin
    u run --no-confine --on-exit keep -- sh -ec 'mkdir .aws; stat .aws >/dev/null; ls .aws; rmdir .aws
        python3 -c "import os; os.close(os.open(\".env\", os.O_CREAT | os.O_WRONLY, 0o444)); os.stat(\".env\"); os.unlink(\".env\")"'
    u run --no-confine --on-exit keep -- sh -c 'mkdir .aws; ! echo x >.aws/credentials || exit 1; ! echo x >.env || exit 1; rmdir .aws' 2>/dev/null
    absent .env
    if command -v bwrap >/dev/null && bwrap --bind / / true 2>/dev/null; then
        u run --no-confine --on-exit keep -- bwrap --bind / / --tmpfs "$PWD/.aws" --ro-bind /dev/null "$PWD/.env" sh -c 'echo x >.aws/y; cat .env'
    fi
    u discard --yes
    end
    same start
}

S44_S82_a_refusal_explains_itself() {
    echo A= >"$W/.env.example"
    echo SECRET=1 >"$W/server.key"
    echo open >"$W/readme"
    begin
    u why .env
    out_has "an agent may neither read nor write it"
    out_has "you may read and write it"
    out_has "*.env (profile default): it may hold a secret"
    u why readme
    out_has "no rule is about it"
    say "the end of a run lists what was refused in it"
    expect 1 run --session copier --on-exit keep -- cp .env.example .env
    err_has "Refused in this run: 1 write"
    err_has ".env  (create by cp): *.env (profile default): it may hold a secret"
    err_has "hint: unwrite why .env"
    expect 1 --json run --session reader --on-exit keep -- cat server.key
    json 'j["refused"]["reads"] == 1 and j["refused"]["newest"][0]["path"] == "server.key"'
    u run --on-exit keep -- cat readme
    ! grep -q Refused "$scratch/err" || fail "it lists what was not refused in it"
    say "of many it says how many more there are, and what lists them"
    expect 1 run --session many --on-exit keep -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10 11; do cp readme $i.env; done'
    err_has "Refused in this run: 11 writes"
    err_has '  ... and 3 more; "unwrite log --audit" lists all'
    err_has "hint: unwrite why 11.env"
    u log --audit
    out_has " 1.env "
    say "and status the newest"
    u status
    out_has "Refused since the task began: 1 write by copier, 1 read by reader, 11 writes by many; newest 11.env"
    out_has "hint: unwrite why 11.env"
    u --json status
    json 'j["refused"]["writes"] == 12 and j["refused"]["reads"] == 1 and [r["path"] for r in j["refused"]["newest"]] == [f"{i}.env" for i in (11, 10, 9, 8, 7)]'
    u why .env
    out_has "refused: 1 write by copier (cp)"
    u --json why .env
    json 'not j["agent"]["may_write"] and j["user"]["may_write"] and not j["asked_by_agent"]'
    json '[(r["session"], r["operation"], r["count"]) for r in j["refused"]] == [("copier", "create", 1)]'
    say "inside a run the agent is told what binds it, and only of itself"
    # shellcheck disable=SC2086
    u run $in_sight --session copier --on-exit keep -- sh -c '"$0" why .env; "$0" status; "$0" why readme' "$program"
    out_has "you may neither read nor write it (this process belongs to a run)"
    out_has "ask the person who started the run"
    out_has "1 write by copier"
    out_lacks "by reader"
    say "the edit commands name the rule to who is bound by it"
    expect 4 run --no-confine --on-exit keep -- "$program" edit server.key --old SECRET --new x
    err_has "Path 'server.key' matched denied pattern '*.key' (profile default): it may hold a secret"
    printf 'LP1\nF readme\nT\nx\n.\nF new.key\nT\nx\n.\nEND\n' >"$scratch/lp1"
    expect 4 --json run --no-confine --on-exit keep -- "$program" --json apply "$scratch/lp1"
    out_has '"path":"new.key"'
    out_has '"current_file_hash":null'
    absent new.key
    u edit server.key --old SECRET=1 --new SECRET=2
    equal server.key SECRET=2
    say "a new task begins with none"
    u commit --yes
    u status
    out_lacks "Refused"
    say "one line for each path, with the programs that were refused"
    expect 1 run --session thrice --on-exit keep -- sh -c 'cat server.key; cat server.key; rm server.key'
    err_has "  server.key  (cat, rm; "
    (($(grep -c "  server.key  (" "$scratch/err") == 1)) || fail "a path has more than one line"
    end
    say "also where nothing is mounted"
    u -C "$W" why .env
    out_has "*.env (profile default)"
}

S71_no_to_a_database_keeps_a_row_out_of_its_wal_too() {
    needs sqlite3
    sqlite3 "$W/old.db" "PRAGMA journal_mode=WAL; CREATE TABLE t(x); INSERT INTO t VALUES(1);" >/dev/null
    sqlite3 "$W/plain.db" "CREATE TABLE t(x); INSERT INTO t VALUES(1);"
    absent "$W/old.db-wal"
    remember start
    begin
    say "no: the row is in no file"
    local database
    for database in old.db plain.db; do
        ! "$program" run --on-exit keep -- sqlite3 "$database" "INSERT INTO t VALUES(2);" 2>"$scratch/err" || fail "$database: not refused"
        [[ $(sqlite3 "$database" "SELECT group_concat(x) FROM t;") == 1 ]] || fail "the agent's row is in $database"
    done
    absent old.db-journal
    say "the user, and databases made since, are free"
    sqlite3 old.db "INSERT INTO t VALUES(3);"
    u run --on-exit keep -- sqlite3 new.db "PRAGMA journal_mode=WAL; CREATE TABLE t(x); INSERT INTO t VALUES(1);"
    [[ $(sqlite3 old.db "SELECT group_concat(x) FROM t;") == 1,3 ]]
    u discard --yes
    same start
    say "yes is for the database and the files beside it"
    u --json approvals
    local question
    question=$(json_value "next(q['number'] for q in j['questions'] if q['path'].startswith('old.db'))")
    session=$(json_value "next(q['session'] for q in j['questions'] if q['path'].startswith('old.db'))")
    json "sum(q['path'].startswith('old.db') for q in j['questions']) == 1"
    u approve "$question"
    u run --session "$session" --on-exit keep -- sqlite3 old.db "INSERT INTO t VALUES(2);"
    [[ $(sqlite3 old.db "SELECT group_concat(x) FROM t;") == 1,2 ]]
    u discard --yes
    end
    same start
}

S44_who_wants_the_wall_has_it() {
    echo SECRET=1 >"$W/.env"
    mkdir -p "$XDG_CONFIG_HOME/unwrite"
    printf '[policy]\nbind = "everyone"\n[[policy.rule]]\npattern = "plan"\n[[policy.rule]]\npattern = "draft"\nfor = "agents"\n' \
        >"$XDG_CONFIG_HOME/unwrite/unwrite.toml"
    begin
    ! (echo x >>.env) 2>/dev/null || fail "not refused: .env"
    ! (echo x >plan) 2>/dev/null || fail "not refused: plan"
    echo x >draft
    equal .env SECRET=1
    u why .env
    out_has "you may read it, and not write it"
    out_has "hint: unwrite policy allow .env"
    say "and one rule alone"
    printf '[[policy.rule]]\npattern = "plan"\n[[policy.rule]]\npattern = "law"\nfor = "everyone"\n' >"$XDG_CONFIG_HOME/unwrite/unwrite.toml"
    u policy reload
    echo x >>.env
    echo x >plan
    ! (echo x >law) 2>/dev/null || fail "not refused: law"
    expect 1 run --on-exit keep -- sh -c 'echo y >>plan'
    end
}

S44_npm_asks_the_registries_of_the_project() {
    needs npm
    mkdir -p "$W/app/src"
    printf '//npm.example/:_authToken=token-1\nregistry=https://me:token-2@npm.example/\n' >"$W/.npmrc"
    echo "@acme:registry=https://acme.example/" >"$W/app/.npmrc"
    echo {} >"$W/package.json"
    echo {} >"$W/app/package.json"
    begin
    cd app/src
    asked() { u run --on-exit keep -- sh -c 'env; npm config get registry; npm config get @acme:registry'; }
    asked
    out_has "https://npm.example/"
    out_has "https://acme.example/"
    out_lacks token-
    err_has "npm asks the registries of your .npmrc"
    say "what is set already stays"
    npm_config_registry=https://mine.example/ asked
    out_has "https://mine.example/"
    out_lacks "https://npm.example/"
    say "who may read the file needs nothing"
    u policy allow .npmrc --agents
    u policy allow ../.npmrc --agents
    cd ..
    u policy allow .npmrc --agents
    u run --on-exit keep -- env
    out_lacks npm_config_registry
    [[ -z $(ls "$HOME/.local/state/unwrite" | grep npmrc) ]] || fail "a run leaves a copy"
    cd "$W"
    end
}

# npm's packages come from its registry: with none in reach there is nothing to compare.
S48_npm_install_of_real_packages_is_whole() {
    needs npm node
    export npm_config_cache=$scratch/npm-cache npm_config_update_notifier=false npm_config_audit=false npm_config_fund=false \
        npm_config_ignore_scripts=true npm_config_loglevel=error npm_config_prefer_offline=true
    npm_config_userconfig=$(getent passwd "$(id -u)" | cut -d: -f6)/.npmrc # a story has a home of its own
    export npm_config_userconfig
    mkdir "$scratch/plain"
    (cd "$scratch/plain" && timeout 100 npm install eslint @nestjs/core >"$scratch/npm.log" 2>&1) ||
        skip "npm's registry cannot be reached: $(head -n 1 "$scratch/npm.log")"
    list() { (cd "$1" && find . -path ./.unwrite -prune -o -type f ! -name .package-lock.json -print | sort | xargs -d '\n' sha256sum); }
    list "$scratch/plain" >"$scratch/wanted"
    [[ $(grep -c /core/ "$scratch/wanted") -gt 50 ]] || fail "the packages have no directories called core any more"
    install_it() { timeout 100 "$@" npm ci >"$scratch/npm.log" 2>&1 || fail "$* npm ci: $(cat "$scratch/npm.log")"; }
    cp "$scratch/plain/package.json" "$scratch/plain/package-lock.json" "$W/"
    begin
    install_it
    list . | diff "$scratch/wanted" - >"$scratch/missing" || fail "as the user: $(head -n 5 "$scratch/missing")"
    u discard --yes
    install_it "$program" run --write "$scratch/npm-cache" --on-exit keep --
    ! grep Refused "$scratch/npm.log" || fail "something was refused"
    list . | diff "$scratch/wanted" - >"$scratch/missing" || fail "in a run: $(head -n 5 "$scratch/missing")"
    u discard --yes
    absent node_modules
    end
}

# What an agent stores to a mapping is judged when the kernel writes it back. Until then nobody else sees it.
S44_a_mapping_of_an_agent_is_seen_by_agents_alone() {
    git -C "$W" init -q
    echo a >"$W/a"
    git -C "$W" add .
    git -C "$W" commit -qm one
    begin
    local how run
    for how in append rename; do
        say "$how"
        rm -f stored go
        "$program" run --session "$how" --on-exit keep -- python3 "$here/mapper.py" "$how" "touch $W/ran" \
            >"$scratch/run" 2>&1 </dev/null &
        run=$!
        for _ in {1..200}; do [[ ! -e stored ]] || break; sleep 0.05; done
        present stored
        ! git config core.fsmonitor || fail "git outside reads what is stored and was not judged"
        git status --short >"$scratch/status"
        ! grep -q $'^ \tfsmonitor' .git/config || fail "it is seen outside"
        echo "# by the user" >>.git/config
        grep -q "by the user" .git/config
        touch go
        wait "$run" || true
        ! git config core.fsmonitor || fail "git outside reads it after the run"
        absent ran
        u discard --yes
    done
    end
    ! git -C "$W" config core.fsmonitor || fail "it is in the real file"
}
