# Names of secrets in a git repository: what git tracks can be read, and git leaves the rest alone.
# shellcheck shell=bash

S44_git_add_all_beside_a_secret() {
    needs git
    git -C "$W" init -qb main
    mkdir -p "$W/app" "$XDG_CONFIG_HOME/git"
    echo '*.o' >"$XDG_CONFIG_HOME/git/ignore"
    echo code >"$W/app/main.c"
    echo sample >"$W/.env.example"
    git -C "$W" add app .env.example
    git -C "$W" commit -qm first
    echo TOKEN=1 >"$W/.env"
    echo KEY >"$W/app/server.pem"
    begin
    cd app
    say "an agent adds all, and gets all but what it may not read"
    u run --on-exit keep -- sh -c 'echo more >>main.c; echo new >new.c; echo x >x.o; echo s >>../.env.example; git add -A .. && git commit -qm second'
    cd ..
    [[ $(git show --name-only --format= | sort | tr '\n' ' ') == ".env.example app/main.c app/new.c " ]] || fail "$(git show --stat)"
    say "outside a run git is as it was"
    [[ $(git status --short | sort | tr '\n' ' ') == "?? .env ?? app/server.pem " ]] || fail "$(git status --short)"
    say "settings that are in the environment stay, and a file that was named is obeyed"
    echo '*.tmp' >"$scratch/excludes"
    git config core.excludesFile "$scratch/excludes"
    GIT_CONFIG_PARAMETERS="'user.name=Somebody'" u run --on-exit keep -- \
        sh -c 'git config user.name; echo x >y.tmp; echo x >y.o; git status --short; git clean -fdq'
    out_has Somebody
    out_has "?? app/x.o"
    out_has "?? y.o"
    out_lacks y.tmp
    out_lacks .env
    equal .env TOKEN=1
    say "who may read the file adds it"
    u policy allow .env --agents
    u run --on-exit keep -- git add -A
    [[ $(git diff --cached --name-only) == .env ]] || fail "$(git status --short)"
    [[ -z $(ls "$HOME/.local/state/unwrite" | grep gitignore) ]] || fail "a run leaves a copy"
    end
}

S44_S45_what_git_tracks_an_agent_reads() {
    needs git tar rsync
    git -C "$W" init -q -b main
    mkdir "$W/certs"
    echo code >"$W/main.c"
    echo A=1 >"$W/.env.test"
    echo cert >"$W/certs/test.key"
    git -C "$W" add -A
    git -C "$W" commit -qm first
    git -C "$W" switch -qc other
    echo other >"$W/main.c"
    git -C "$W" commit -qam other
    git -C "$W" switch -q main
    echo TOKEN=1 >"$W/.env"
    begin
    say "what looks at each file goes through, and a file that is not tracked stays closed"
    u run --on-exit keep -- sh -exc 'git switch -q other; git switch -q main; echo more >>main.c; git stash -q
        git stash pop -q; git status --short; cat .env.test certs/test.key; tar -cf all.tar .env.test certs
        rsync -a .env.test certs /tmp/copy/; ! cat .env'
    out_has A=1
    out_has cert
    out_lacks TOKEN
    err_has "Permission denied"
    tar -tf all.tar | grep -q certs/test.key || fail "tar left it out"
    say "it writes none of them, and makes no other one readable"
    expect 1 run --on-exit keep -- sh -c 'echo B=1 >>.env.test'
    equal .env.test A=1
    u run --on-exit keep -- sh -c 'blob=$(printf "TOKEN=1\n" | git hash-object -w --stdin)
        git update-index --add --cacheinfo "100644,$blob,.env"; ! cat .env'
    git ls-files | grep -qx .env || fail "the index does not name it"
    out_lacks TOKEN
    u why .env.test
    out_has "an agent may read it, and not write it, by .env.* (profile default)"
    out_has "git tracks it"
    say "bytes of the user's own are a secret"
    echo A=secret >.env.test
    u run --on-exit keep -- sh -c '! cat .env.test; git diff; unwrite diff 2>/dev/null || true'
    out_lacks A=secret
    git checkout -q .env.test
    u run --on-exit keep -- cat .env.test
    end
}
