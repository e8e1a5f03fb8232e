# What the policy refuses, through a real mount.
# shellcheck shell=bash

# refused COMMANDS: bash ends with a failure, and says that it may not.
refused() {
    ! bash -c "$1" >"$scratch/said" 2>&1 || fail "not refused: $1"
    grep -qE "Permission denied|Operation not permitted" "$scratch/said" || { cat "$scratch/said" >&2; fail "refused with other words: $1"; }
}

# for_everyone: the default profile binds the user too.
for_everyone() {
    mkdir -p "$XDG_CONFIG_HOME/unwrite"
    printf '[policy]\nbind = "everyone"\n' >"$XDG_CONFIG_HOME/unwrite/unwrite.toml"
}

S44_S82_secrets_are_not_changed() {
    for_everyone
    mkdir -p "$W/.ssh" "$W/.git/hooks" "$W/.config/gcloud" "$W/d"
    echo SECRET=1 >"$W/.env"
    echo 'Host *' >"$W/.ssh/config"
    echo token >"$W/.config/gcloud/token"
    printf '#!/bin/sh\n' >"$W/.git/hooks/pre-commit"
    echo other >"$W/other"
    chmod -R a+rwX "$W"
    remember start
    begin
    u checkpoint A
    say "as root, who opens everything, and as somebody else"
    local path as others=("")
    [[ $EUID != 0 ]] || others+=("setpriv --reuid=nobody --clear-groups ")
    for as in "${others[@]}"; do
        for path in .env .ssh/config .config/gcloud/token .git/hooks/pre-commit; do
            refused "${as}bash -c 'echo x >$path'"
            refused "${as}bash -c 'echo x >>$path'"
            refused "${as}dd if=/dev/zero of=$path conv=notrunc bs=1 count=1 status=none"
            refused "${as}truncate -s 0 $path"
            refused "${as}rm -f $path"
            refused "${as}mv $path elsewhere"
            refused "${as}mv other $path"
            refused "${as}ln $path linked"
            refused "${as}setfattr -n user.a -v b $path"
        done
        refused "chmod 600 .env"
        refused "chown 1 .env"
        refused "${as}touch .env.local"
        refused "${as}ln -s other prod.env"
        refused "${as}mkdir d/.aws"
        refused "${as}mv .ssh moved"
        refused "${as}rm -r .ssh"
        refused "${as}mv .config config"
    done
    say "opening for writing is refused at once to whom permission bits bind"
    refused "${others[-1]}python3 -c 'import os; os.open(\".env\", os.O_RDWR)'"
    say "nothing was changed, and nothing is in the journal; what nobody may write shows as read-only"
    u --json status
    json 'j["changes"] == []'
    u --json check
    json 'j["records"] == 0'
    [[ $(stat -c %a .env) == 444 ]]
    end
    same start
    begin --on-unfinished keep
    say "an editor that works on a copy does not get it back in place"
    refused "sed -i s/S/T/ .env"
    u discard --yes
    say "what is like it, but no secret"
    echo A= >.env.example
    printf '#!/bin/sh\n' >.git/hooks/pre-push.sample
    mkdir -p node_modules/p core
    echo pem >node_modules/p/ca.pem
    u discard --yes
    end
    same start
}

S45_agents_do_not_read_secrets() {
    echo SECRET=1 >"$W/.env"
    echo open >"$W/readme"
    begin
    equal .env SECRET=1
    expect 1 run --on-exit keep -- cat .env
    err_has "Permission denied"
    out_lacks SECRET
    expect 2 run --on-exit keep -- sh -c 'cp .env x || ln .env y || exec 3<>.env'
    u run --on-exit keep -- cat readme
    say "nor from what the kernel remembers of the user's reading"
    cat .env >/dev/null
    expect 1 run --on-exit keep -- sh -c 'cat .env'
    u run --on-exit keep -- ls -a
    out_has .env
    expect 4 run --no-confine --on-exit keep -- "$program" edit .env --old SECRET --new x
    err_has "matched denied pattern"
    say "nor from the journal, by whatever name"
    echo MORE=2 >>.env
    echo more >>readme
    u diff
    out_has SECRET
    u run --no-confine --on-exit keep -- "$program" diff
    out_lacks SECRET
    out_lacks MORE
    out_has "+more"
    u --json log --audit
    json 'any(e["operation"] == "diff .env" and e["agent"] for e in j["entries"])'
    rm .env
    u run --no-confine --on-exit keep -- "$program" diff
    out_lacks SECRET
    u undo
    ln .env plain
    echo LAST=3 >>plain
    u run --no-confine --on-exit keep -- "$program" diff
    out_lacks SECRET
    out_lacks LAST
    rm plain
    u discard --yes
    equal .env SECRET=1
    end
}

S44_git_works_under_the_default_rules() {
    needs git
    begin
    git init -q .
    echo a >a
    git add a
    git commit -qm one
    git gc -q
    git worktree add -q wt
    git worktree remove wt
    say "an agent plants no hook there"
    u run --no-confine --on-exit keep -- sh -c 'echo "#!/bin/sh" >.git/hooks/post-commit'
    refused "$program run --no-confine --on-exit keep -- chmod +x .git/hooks/post-commit"
    u discard --yes
    absent .git
    end
}

S165_wrong_rules_are_refused_by_line() {
    mkdir -p "$XDG_CONFIG_HOME/unwrite"
    printf '[policy]\nprofile = "none"\n\n[[policy.rule]]\npattern = "[x"\n' >"$XDG_CONFIG_HOME/unwrite/unwrite.toml"
    expect 2 mount "$W"
    err_has "unwrite.toml:4"
    printf '[policy]\nprofile = "some"\n' >"$XDG_CONFIG_HOME/unwrite/unwrite.toml"
    expect 2 mount "$W"
    err_has "unwrite.toml:2"
    printf '[policy]\nprofile = "none"\n[[policy.rule]]\npattern = "*.lock"\naction = "deny-write"\nfor = "everyone"\n' \
        >"$XDG_CONFIG_HOME/unwrite/unwrite.toml"
    say "a rule that is about nothing is told of"
    u -C "$W" policy check
    out_has "nothing that is here now matches *.lock"
    begin
    echo x >.env
    u policy check
    out_has "nothing that is here now matches *.lock"
    expect 0 --json policy reload
    json '[r["pattern"] for r in j["unmatched"]] == ["*.lock"]'
    refused "echo x >a.lock"
    end
    grep -q 'warning: a rule is about nothing that is here: \*.lock' "$W/.unwrite/daemon.log" ||
        fail "the log does not tell"
    : >"$W/a.lock"
    u -C "$W" policy check
    out_lacks "nothing that is here"
}

S44_S82_refusals_are_in_the_audit_log() {
    observed "an open is what is refused elsewhere, and its line is another"
    echo SECRET=1 >"$W/.env"
    for_everyone
    begin
    # Writing is refused by the kernel already to who is not root: the file shows as read-only.
    refused "touch .env"
    expect 1 run --on-exit keep -- cat .env
    expect 4 run --no-confine --on-exit keep -- "$program" commit --yes
    u log --audit
    out_has "refused setattr .env"
    out_has "it may hold a secret"
    u --json log --audit
    json 'j["problems"] == []'
    json '[e for e in j["entries"] if e["event"] == "refused" and e["path"] == ".env" and e["agent"] and e["executable"].endswith("/cat") and e["pid"] > 1]'
    json '[e for e in j["entries"] if e["operation"] == "commit" and e["agent"]]'
    u check
    say "a loop of refusals does not fill the disk"
    refused "python3 -c 'import os
for i in range(500):
    try: os.rename(\".env\", \"elsewhere\")
    except OSError as error: last = error
raise last'"
    u log --audit
    out_has "(499 times)"
    (($(wc -l <"$scratch/out") < 10)) || fail "more than some lines"
    say "an agent does not read the log"
    expect 4 run --no-confine --on-exit keep -- "$program" log --audit
    end
    say "a changed line is found"
    sed -i '1s/ setattr / getattr /' "$W/.unwrite/audit.log"
    expect 7 -C "$W" check
    out_has "audit.log: line 1 was changed"
    u -C "$W" check --repair
    check_state
    say "a line that a kill cut short is mended"
    printf 'a line without an end' >>"$W/.unwrite/audit.log"
    begin
    refused "touch .env"
    end
    check_state
}

S44_S65_the_user_allows_and_reloads() {
    echo SECRET=1 >"$W/.env"
    echo plan >"$W/plan"
    for_everyone
    u -C "$W" policy show
    out_has "*.env"
    u -C "$W" policy explain .env
    out_has "an agent: may not read it, by *.env (profile default): it may hold a secret"
    begin
    refused "echo x >>.env"
    say "allowed to the user, at once, and written down"
    u policy allow .env --for 10m
    echo two >>.env
    equal .env "SECRET=1
two"
    expect 1 run --on-exit keep -- cat .env
    u log --audit
    out_has "allowed policy .env"
    out_has "to the user for 600 s"
    u policy show
    out_has "policy allow until"
    u --json policy explain .env
    json 'j["user"]["may_write"] and not j["agent"]["may_read"]'
    say "other rules, without a new mount"
    printf '[policy]\nprofile = "none"\n[[policy.rule]]\npattern = "plan"\naction = "deny-write"\nfor = "everyone"\nreason = "it is agreed"\n' \
        >"$XDG_CONFIG_HOME/unwrite/unwrite.toml"
    echo still >>plan
    u policy check
    u policy reload
    refused "echo x >>plan"
    touch new.key
    u policy explain plan
    out_has "it is agreed"
    say "a mistake changes nothing and is named"
    printf '[policy]\nprofile = "some"\n' >"$XDG_CONFIG_HOME/unwrite/unwrite.toml"
    expect 2 policy check
    err_has "unwrite.toml:2"
    expect 2 policy reload
    err_has "policy.profile"
    refused "echo x >>plan"
    for_everyone
    u policy reload
    echo more >>plan
    refused "touch other.key"
    u check
    end
}

S40_S44_an_agent_decides_nothing() {
    echo SECRET=1 >"$W/.env"
    begin
    local words
    for words in "commit --yes" "discard --yes" "policy allow .env" "policy allow .env --agents" "policy reload" "policy check" \
        "log --audit" "gc" "check --repair"; do
        # shellcheck disable=SC2086
        expect 4 run --no-confine --on-exit keep -- "$program" $words
    done
    expect 4 run --no-confine --on-exit keep -- "$program" unmount --force "$W"
    is_mounted "$W"
    say "it may see what binds it"
    u run --no-confine --on-exit keep -- "$program" policy explain .env
    out_has "may not read it"
    u --json log --audit
    json '{"commit", "discard", "allow", "reload", "audit", "gc", "repair", "stop"} <= {e["operation"] for e in j["entries"] if e["agent"] and e["event"] == "refused"}'
    expect 2 run --on-exit keep -- sh -c 'echo x >>.env'
    equal .env SECRET=1
    end
}

S165_an_agent_leaves_room_on_the_disk() { # attack 42
    usual "the room that is missing while something is compressed is there again when the user looks"
    small_disk 48M
    head -c 2M /dev/urandom >"$W/data"
    remember start
    begin
    say "an agent rewrites a file for ever, with a checkpoint after each time"
    local code=0
    "$program" run --no-confine --on-exit keep -- bash -c '
        for ((;;)); do
            head -c 2M /dev/urandom | dd of=data bs=64K conv=notrunc iflag=fullblock status=none || exit 9
            "$0" checkpoint >/dev/null || exit 8
        done' "$program" >"$scratch/out" 2>"$scratch/err" || code=$?
    [[ $code == 9 ]] || fail "it ended with $code: $(cat "$scratch/err")"
    err_has "No space left on device"
    u status
    err_has "the disk is almost full"
    u --json status
    json 'j["out_of_room"]'
    u log --audit
    out_has "journal.reserve"
    say "the user goes on, and everything can be taken back"
    printf x | dd of=data conv=notrunc status=none
    u rollback root
    same start
    u redo
    differs start
    u discard --yes
    same start
    say "the history given up makes room"
    u gc --max-nodes 1
    u status
    ! grep -q "almost full" "$scratch/err" || fail "there is room, and it says otherwise"
    end
    same start
    check_state
    umount "$scratch/small"
}

S44_the_user_changes_the_configuration_while_mounted() {
    mkdir -p "$XDG_CONFIG_HOME/unwrite"
    echo 'gc.max_age_days = 9' >"$XDG_CONFIG_HOME/unwrite/unwrite.toml"
    mkdir "$W/migrations"
    echo 1 >"$W/migrations/1.sql"
    begin
    say "what is in force, and where it is from"
    u config
    out_has 'durability = "ordered"'
    [[ $(grep '^gc.max_age_days = 9 ' "$scratch/out") == *unwrite.toml:1 ]] || fail "the source of gc.max_age_days"
    u --json config get policy.profile
    json "j['value'] == 'default' and j['source'] == 'default'"
    say "set: checked, then in force at once, or at the next mount"
    expect 2 config set policy.profile lax
    err_has 'config set: policy.profile cannot be "lax"; it takes "default", "strict-forge" or "none"'
    expect 2 config set policy.profil none
    err_has 'Did you mean "policy.profile"?'
    expect 2 config set approval deny
    err_has "unwrite.toml"
    u run --on-exit keep -- sh -c '! echo x >.env'
    u config set policy.profile none
    u run --on-exit keep -- sh -c 'echo x >.env'
    u config set durability power
    err_has "durability takes effect at the next mount"
    u config get durability
    equal "$scratch/out" power
    say "no agent reads or changes it"
    for command in "config" "config get durability" "config set policy.profile none" "config unset durability"; do
        # shellcheck disable=SC2086
        expect 4 run $in_sight --on-exit keep -- "$program" $command
    done
    absent .unwrite
    say "edit: an editor on a copy; what is wrong is not put in its place"
    printf '#!/bin/sh\ncat "%s/wanted" >"$1"\n' "$scratch" >"$scratch/editor"
    chmod +x "$scratch/editor"
    export VISUAL=$scratch/editor
    echo '[[policy.rule]]' >"$scratch/wanted"
    TMPDIR=$scratch expect 2 config edit
    err_has "a rule without"
    err_has "your text is in"
    u config get durability
    equal "$scratch/out" power
    printf '# ours\n[[policy.rule]]\npattern = "migrations/**"\naction = "deny-write"\n' >"$scratch/wanted"
    u config edit
    u run --on-exit keep -- sh -c '! echo 2 >migrations/1.sql && ! echo x >.env'
    expect 3 config edit
    u config get durability
    equal "$scratch/out" ordered
    u config set durability power
    end
    say "and the same without a mount; the next mount obeys it"
    cd "$W"
    equal .unwrite/config.toml "$(printf '# ours\ndurability = "power"\n[[policy.rule]]\npattern = "migrations/**"\naction = "deny-write"')"
    [[ $(stat -c %a .unwrite/config.toml) == 600 ]] || fail "the mode"
    u config unset durability
    expect 3 config unset durability
    begin
    u config get durability
    equal "$scratch/out" ordered
    u log --audit
    out_has reloaded
    end
    cd "$scratch"
    expect 6 config set durability power
}

S44_S167_rules_that_come_with_a_clone() {
    needs git python3
    git init -q -b main "$scratch/origin"
    mkdir "$scratch/origin/.unwrite"
    printf '[policy]\nprofile = "none"\n[[policy.rule]]\npattern = "kept"\naction = "deny-write"\n' \
        >"$scratch/origin/.unwrite/config.toml"
    echo one >"$scratch/origin/kept"
    git -C "$scratch/origin" config user.email story@example.invalid
    git -C "$scratch/origin" config user.name story
    git -C "$scratch/origin" add -f .
    git -C "$scratch/origin" commit -qm first
    rmdir "$W"
    git clone -q "$scratch/origin" "$W"
    echo secret >"$W/.env"
    begin
    err_has "would loosen your rules. Not in force: policy.profile"
    err_has "hint: unwrite config agree"
    ! "$program" run --on-exit keep -- cat .env 2>/dev/null || fail "the policy is off"
    ! "$program" run --on-exit keep -- sh -c 'echo two >kept' 2>/dev/null || fail "what it tightens does not hold"
    say "the configuration says so, and set does not agree by the way"
    u config get policy.profile
    equal "$scratch/out" default
    u config
    err_has "Not in force: policy.profile"
    expect 4 config set durability power
    err_has "you have not agreed to it yet: policy.profile"
    say "an agent does not agree"
    expect 4 run --on-exit keep $in_sight -- "$program" config agree --yes
    u config get policy.profile
    equal "$scratch/out" default
    say "the user reads it and does"
    python3 "$here/terminal.py" "Put it in force? (y/n)=n" -- "$program" config agree >"$scratch/out" || [[ $? == 3 ]]
    out_has 'profile = "none"'
    u config get policy.profile
    equal "$scratch/out" default
    u config agree --yes
    u config get policy.profile
    equal "$scratch/out" none
    "$program" run --on-exit keep -- cat .env >"$scratch/out"
    equal "$scratch/out" secret
    expect 3 config agree --yes
    end
    begin
    ! grep -q loosen "$scratch/err" || fail "it asks again"
    u config set durability power
    end
}
