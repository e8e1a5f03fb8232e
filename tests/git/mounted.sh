# `unwrite git` in a mounted workspace; told by tests/e2e/story.sh.
# shellcheck shell=bash

# agent_repository: a repository in the workspace with a start and a commit of the agent for issue 7.
agent_repository() {
    needs git
    git -C "$W" init -q -b main
    echo 0 >"$W/a"
    git -C "$W" add a
    git -C "$W" commit -q -m start
    echo 1 >"$W/a"
    echo made >"$W/made"
    git -C "$W" add a made
    git -C "$W" commit -q -m "gitclaw: work on issue #7"
}

# await COMMAND...: until it succeeds.
await() {
    local _
    for _ in $(seq 1000); do
        ! "$@" || return 0
        sleep 0.05
    done
    fail "not in time: $*"
}

S107_undo_takes_back_even_the_git_undo() {
    agent_repository
    begin
    remember before
    head=$(git rev-parse HEAD)
    u git undo --issue 7 --memory "$W/m.log"
    out_has "## 🔙 Undo complete"
    equal a 0
    absent made
    present m.log
    u log
    out_has "git undo --issue 7"
    u undo
    same before
    equal a 1
    absent m.log
    [[ $(git rev-parse HEAD) == "$head" ]] || fail "HEAD did not come back"
    # Without the option git would write its index anew: a change, after which there is no redo.
    [[ -z $(git --no-optional-locks status --porcelain) ]] || fail "git sees changes"
    u redo
    equal a 0
    end
    check_state
}

S107_S125_without_a_change_there_is_no_step() {
    agent_repository
    begin
    u --json log
    before=$(json_value 'len(j["entries"])')
    expect 3 git undo --issue 8
    u git undo --issue 7 --dry-run
    echo unsaved >a
    expect 5 git undo --issue 7
    u --json log
    json "len(j['entries']) == $before"
    end
}

S47_S76_S77_S78_S79_git_says_that_discard_restored_all() {
    agent_repository
    echo 2 >"$W/b"
    git -C "$W" add b
    git -C "$W" commit -q -m more
    echo stashed >"$W/b"
    git -C "$W" stash -q
    echo staged >"$W/made"
    git -C "$W" add made
    begin
    says() { git --no-optional-locks status --porcelain=v2 --branch --show-stash; git stash list --format=%H; sha1sum .git/index; }
    says >"$scratch/said"
    u checkpoint task
    for file in a b made; do echo changed >>"$file"; done
    echo new >new
    rm b
    git stash drop -q
    git add -A
    git commit -q -m "all of it"
    u discard --yes
    says >"$scratch/says"
    diff "$scratch/said" "$scratch/says" || fail "git does not say what it said"
    absent new
    equal b 2
    end
}

S47_S76_each_state_says_where_git_stood() {
    agent_repository
    begin
    say "a status speaks git: what differs from where the changes are counted from"
    u status
    out_has "; git: on main"
    out_lacks "("
    u checkpoint first
    git switch -q -c side
    echo 2 >a
    git stash -q
    echo 3 >a
    git commit -q -a -m third
    u status
    out_has "; git: on side (HEAD $(git rev-parse --short=7 main) -> $(git rev-parse --short=7 side), branch main -> side, index changed, 1 more in the stash)"
    u checkpoint second
    u status --since second
    out_has "; git: on side"
    out_lacks "("
    u --json log
    json 'all("git" in e["node"]["tags"] for e in j["entries"])'
    u log
    out_lacks "layout"
    say "after the rollback nothing of it differs"
    u rollback first
    u status
    out_lacks "("
    u commit --yes
    end
    say "without a mount as well; with nothing to go back to, the beginning is now"
    echo 4 >"$W/a"
    git -C "$W" commit -q -a -m fourth
    ( cd "$W" && "$program" status ) >"$scratch/out"
    out_has "; git: on main"
    out_lacks "main ("
    git -C "$W" checkout -q --detach
    begin
    u status
    out_has "; git: detached at $(git rev-parse --short=7 HEAD)"
    out_lacks "("
    end
}

S76_what_is_accepted_becomes_one_git_commit() {
    agent_repository
    echo keep >"$W/b"
    git -C "$W" add b
    git -C "$W" commit -q -m more
    begin
    echo 2 >a
    mkdir new
    echo made >new/file
    rm made
    echo staged >b
    git add b
    expect 2 commit --git
    err_has "needs a message"
    say "a part of the task: one commit of it, and the rest can still be taken back"
    u commit --yes a new --git -m "the good half"
    err_has "git: $(git rev-parse --short=7 HEAD) on main, 2 files"
    [[ $(git show --format=%s --name-status HEAD) == $'the good half\n\nM\ta\nA\tnew/file' ]] || fail "$(git show HEAD)"
    [[ $(git --no-optional-locks status --porcelain) == $'M  b\n D made' ]] || fail "$(git status)"
    say "what was accepted differs from nothing; what is done to the repository after that does"
    u status
    out_has "; git: on main"
    out_lacks "(HEAD"
    git branch -q -m side
    u status
    out_has "branch main -> side"
    git branch -q -m main
    u status
    out_lacks "main ->"
    u discard --yes
    [[ $(git log -1 --format=%s) == "the good half" ]] || fail "the commit is gone"
    equal a 2
    equal b keep
    present made
    say "everything"
    echo 3 >a
    rm -r new
    u commit --yes --git -m "all of it"
    [[ $(git show --format=%s --name-status HEAD) == $'all of it\n\nM\ta\nD\tnew/file' ]] || fail "$(git show HEAD)"
    u status
    out_has "No changes"
    say "a task that made commits of its own is accepted wholly"
    echo 4 >a
    git commit -q -a -m "the agent's"
    echo 5 >b
    expect 5 commit --yes b --git -m "only b"
    err_has "the task changed the repository itself: HEAD"
    u commit --yes --git -m "b as well"
    expect 3 commit --yes --git -m "nothing more"
    [[ $(git log -2 --format=%s) == $'b as well\nthe agent\'s' ]] || fail "$(git log)"
    end
    check_state
    say "in a directory of the repository its own files alone; git does not look out of a mount, so without one"
    mkdir "$scratch/outer"
    mv "$W" "$scratch/outer/inner"
    mv "$scratch/outer/inner/.git" "$scratch/outer/"
    W=$scratch/outer/inner
    git -C "$scratch/outer" add -A
    git -C "$scratch/outer" commit -q -m moved
    echo beside >"$scratch/outer/beside"
    begin
    echo 6 >a
    echo 7 >b
    expect 1 commit --yes a --git -m "from within"
    end
    cd "$W"
    u commit --yes a --git -m "from within"
    [[ $(git show --format=%s --name-status HEAD) == $'from within\n\nM\tinner/a' ]] || fail "$(git show HEAD)"
    u discard --yes
    equal a 6
    equal b 5
}

S62_S76_what_a_review_accepts_becomes_one_git_commit() {
    agent_repository
    seq 40 >"$W/lines"
    git -C "$W" add lines
    git -C "$W" commit -q -m lines
    begin
    sed -i '2s/$/ good/; 35s/$/ bad/' lines
    echo good >good
    echo bad >a
    printf '%s\n' "accept good" "reject a" "accept-hunks 1 lines" |
        "$program" review --script --git -m "reviewed" 2>"$scratch/err"
    err_has "git: $(git rev-parse --short=7 HEAD) on main, 2 files"
    [[ $(git show --format=%s --name-status HEAD) == $'reviewed\n\nA\tgood\nM\tlines' ]] || fail "$(git show HEAD)"
    [[ -z $(git --no-optional-locks status --porcelain) ]] || fail "$(git status)"
    [[ $(sed -n '2p;35p' lines) == $'2 good\n35' ]] || fail "$(sed -n '2p;35p' lines)"
    equal a 1
    echo more >>lines
    u discard --yes
    [[ $(git log -1 --format=%s) == reviewed ]] || fail "the commit is gone"
    [[ -z $(git --no-optional-locks status --porcelain) ]] || fail "$(git status)"
    end
    check_state
}

S120_the_offer_of_a_revert_request_can_be_left() {
    agent_repository
    git -C "$W" init -q --bare "$scratch/origin.git"
    git -C "$W" remote add origin "$scratch/origin.git"
    git -C "$W" push -q -u origin main
    export PATH=$here/../git/stub:$PATH GH_STUB=$scratch/gh
    mkdir "$GH_STUB"
    head=$(git -C "$W" rev-parse HEAD)
    echo "[{\"number\":3,\"url\":\"https://h/3\",\"title\":\"t\",\"baseRefName\":\"main\",\"mergeCommit\":{\"oid\":\"$head\"}}]" >"$GH_STUB/pr-list-merged.out"
    echo '{"commits":[]}' >"$GH_STUB/pr-view.out"
    cd "$W"
    say "with an answer, and with Ctrl-C"
    for answer in n $'\x03'; do
        code=0
        env --default-signal=INT python3 "$here/terminal.py" "Create a revert pull request? (y/n)=$answer" -- "$program" git undo --issue 7 >"$scratch/out" || code=$?
        out_has "Would you like me to create a revert PR?"
        [[ $answer != n || $code == 3 ]] || fail "the answer was $code"
        [[ $code != 0 && $code != 99 ]] || fail "it went on: $code"
        ! grep -q "pr create" "$GH_STUB/calls" || fail "a request was made"
    done
}

two_changed_and_one_new() {
    agent_repository
    begin
    for file in a made; do echo changed >>$file; done
    touch new
    remember changed
}
a_alone_was_committed_as_left() {
    [[ $(git show --format=%s --name-status HEAD) == $'left\n\nM\ta' ]] || fail "$(git show HEAD)"
    [[ $(git --no-optional-locks status --porcelain) == $' M made\n?? new' ]] || fail "$(git status)"
    u discard --yes
    [[ -z $(git --no-optional-locks status --porcelain) ]] || fail "$(git status)"
    [[ $(git log -1 --format=%s) == left ]] || fail "the commit is gone"
    end
    check_state
}

S62_S76_a_review_that_is_left_commits_what_was_accepted_until_then() {
    two_changed_and_one_new
    python3 "$here/terminal.py" "1 of 3=q" -- "$program" review --plain --git -m left >"$scratch/out" || [[ $? == 3 ]]
    out_has "Nothing was decided."
    same changed
    python3 "$here/terminal.py" "1 of 3=a" "2 of 3=q" "(y/n)=y" -- "$program" review --plain --git -m left >"$scratch/out" || fail "$(cat "$scratch/out")"
    a_alone_was_committed_as_left
}

S62_S76_a_review_on_the_screen_commits_what_was_accepted() {
    source "$here/terminal.sh"
    two_changed_and_one_new
    open_screen 100 30 review --git -m left
    sees "3 open"
    keys C-c
    sees "ended with 3"
    close_screen
    same changed
    open_screen 100 30 review --git -m left
    sees "3 open"
    keys a q k
    sees "Do this?"
    keys y
    sees "git: "
    sees "ended with 0"
    close_screen
    a_alone_was_committed_as_left
}

S76_a_git_commit_takes_nothing_that_was_not_accepted() {
    agent_repository
    mkdir "$W/src"
    echo 1 | tee "$W/src/mine" >"$W/src/task"
    git -C "$W" add src
    git -C "$W" commit -q -m src
    echo "begun before the task" >"$W/src/mine"
    begin
    say "the attributes of a directory bring nothing of what lies in it"
    chmod 700 src
    echo 2 >src/task
    git init -q nested
    u commit --yes --git -m first
    err_has "git: not in it: nested/: a repository of its own"
    [[ $(git show --format=%s --name-status HEAD) == $'first\n\nM\tsrc/task' ]] || fail "$(git show HEAD)"
    [[ $(git --no-optional-locks status --porcelain) == $' M src/mine\n?? nested/' ]] || fail "$(git status)"
    say "nor does a new directory that is needed for one file in it"
    mkdir -p new/in
    touch new/in/a new/in/b new/c
    u commit new/in/a --yes --git -m second
    [[ $(git show --format=%s --name-status HEAD) == $'second\n\nA\tnew/in/a' ]] || fail "$(git show HEAD)"
    u discard --yes
    [[ $(git --no-optional-locks status --porcelain) == $' M src/mine\n?? nested/' ]] || fail "$(git status)"
    say "in a review as well, as often as there is something to accept"
    mkdir -p new2
    touch new2/a new2/b
    echo "accept new2/a" | "$program" review --script --git -m third
    [[ $(git show --format=%s --name-status HEAD) == $'third\n\nA\tnew2/a' ]] || fail "$(git show HEAD)"
    u commit new2/b --yes --git -m fourth
    say "but what the task did to the repository since is not accepted by the way"
    git commit -q --allow-empty -m "the task's"
    touch new2/c
    expect 5 commit new2/c --yes --git -m fifth
    err_has "the task changed the repository itself: HEAD"
    u discard --yes
    [[ $(git log -1 --format=%s) == fourth ]] || fail "$(git log)"
    end
    say "nor is a commit made in a repository that would go with the rest"
    git -C "$W" init -q --separate-git-dir="$W/.repository"
    begin
    touch new2/c
    expect 5 commit new2/c --yes --git -m fifth
    err_has "lies elsewhere in the workspace"
    u commit --yes --git -m fifth
    end
}

S76_git_does_not_obey_what_an_agent_wrote() {
    agent_repository
    mkdir "$W/hooks.new"
    printf '#!/bin/sh\ntouch "%s"\n' "$scratch/pwned" >"$W/hooks.new/pre-commit"
    chmod +x "$W/hooks.new/pre-commit"
    cat >"$W/store.py" <<'END'
import mmap
with open(".git/config", "r+b") as config:
    view = mmap.mmap(config.fileno(), 0)
    at = view.find(b"filemode = true")
    view[at:at + 15] = b"pager = ./evil "
    view.flush()
END
    for way in "git config core.hooksPath hooks.new" "python3 -B store.py"; do
        begin
        u policy allow --agents .git/config  # else it is asked about, and refused
        u run -- sh -c "$way; echo $RANDOM >a"
        for command in "commit --yes --git -m x" "commit --yes a --git -m x" "git undo --issue 7"; do
            # shellcheck disable=SC2086
            expect 4 $command
            err_has "an agent may have changed .git/config, which says what git runs"
        done
        echo "accept a" >"$scratch/script"
        "$program" review --script --git -m x <"$scratch/script" 2>"$scratch/err" && fail "it was committed"
        err_has "an agent may have changed .git/config"
        u status
        out_has "M  a"
        say "once a person has taken it back, or accepted it, git runs"
        u restore .git/config
        u commit --yes --git -m "after $way"
        [[ $(git log -1 --format=%s) == "after $way" ]] || fail "no commit"
        end
    done
    absent "$scratch/pwned"
    begin
    u policy allow --agents .git/config
    u run -- git config core.hooksPath hooks.new
    echo 9 >a
    u commit --yes .git/config
    u commit --yes --git -m accepted
    end
    present "$scratch/pwned"
}

S76_an_interruption_ends_the_git_of_a_commit_and_accepts_nothing() {
    agent_repository
    printf '#!/bin/sh\ntouch "%s"\nexec sleep 300\n' "$scratch/begun" >"$W/.git/hooks/pre-commit"
    chmod +x "$W/.git/hooks/pre-commit"
    begin
    head=$(git rev-parse HEAD)
    echo 2 >a
    touch new
    for arguments in "--yes" "a --yes"; do
        rm -f "$scratch/begun"
        # shellcheck disable=SC2086
        env --default-signal=INT "$program" commit $arguments --git -m x 2>"$scratch/err" &
        await test -e "$scratch/begun"
        kill -INT $!
        code=0
        wait $! || code=$?
        [[ $code == 1 ]] || fail "it ended with $code"
        err_has "interrupted"
        [[ $(git rev-parse HEAD) == "$head" ]] || fail "a commit was made"
        absent .git/index.lock
        [[ $(git --no-optional-locks status --porcelain) == $' M a\n?? new' ]] || fail "$(git status)"
        u status
        out_has "A  new"
    done
    say "in a review the decision was made before, and stays"
    rm -f "$scratch/begun"
    echo "accept a" >"$scratch/script"
    env --default-signal=INT "$program" review --script --git -m x <"$scratch/script" 2>"$scratch/err" &
    await test -e "$scratch/begun"
    kill -INT $!
    wait $! && fail "it was committed"
    err_has "interrupted"
    u discard --yes
    equal a 2
    absent new
    end
}

S76_a_linked_worktree_and_a_submodule_as_the_workspace() {
    agent_repository
    git -C "$W" worktree add -q -b second "$scratch/tree"
    git init -q -b main "$scratch/outer"
    git -C "$scratch/outer" -c protocol.file.allow=always submodule --quiet add "$W" sub
    git -C "$scratch/outer" commit -q -m "with it"
    for W in "$scratch/tree" "$scratch/outer/sub"; do
        begin
        u status
        out_has "; git: on "
        echo 2 >a
        touch new
        say "a part of the task, then all of it"
        u commit a --yes --git -m part
        [[ $(git show --format=%s --name-status HEAD) == $'part\n\nM\ta' ]] || fail "$(git show HEAD)"
        u discard --yes
        equal a 2
        absent new
        [[ -z $(git --no-optional-locks status --porcelain) ]] || fail "$(git status)"
        echo 3 >a
        u commit --yes --git -m all
        [[ $(git show --format=%s --name-status HEAD) == $'all\n\nM\ta' ]] || fail "$(git show HEAD)"
        u git undo --issue 7 --no-pull-requests --dry-run
        say "the repository lies outside: without a run its commits stay when the files are put back"
        echo 4 >a
        git commit -q -a -m "the task's"
        u discard --yes
        equal a 3
        [[ $(git --no-optional-locks status --porcelain) == " M a" ]] || fail "$(git status)"
        git checkout -q a
        u commit --yes
        end
        check_state
    done
    say "a submodule inside: its own work is its own, its new commit is a change of the workspace"
    W=$scratch/outer
    rm -rf "$W/sub/.unwrite"
    git -C "$W" commit -q -a -m moved
    begin
    echo 5 >sub/a
    echo x >x
    u commit --yes --git -m "without it"
    err_has "git: not in it: sub: a submodule with changes of its own"
    git -C sub commit -q -a -m five
    u commit --yes --git -m "with it"
    [[ $(git show --format=%s --name-status HEAD) == $'with it\n\nM\tsub' ]] || fail "$(git show HEAD)"
    say "its repository lies inside: discard takes a commit in it back"
    remember five
    echo 6 >sub/a
    git -C sub commit -q -a -m six
    u discard --yes
    same five
    [[ $(git -C sub log -1 --format=%s) == five ]] || fail "$(git -C sub log)"
    end
    check_state
}

S121_the_page_says_what_the_command_does() {
    local page=$here/../../docs/git.md option heading
    for command in undo feedback; do
        "$program" git $command --help | sed -n '/^Options:/,/^$/p' | grep -oE -- '--[a-z-]+' | grep -vx -- --help | sort -u >"$scratch/options"
        [[ -s $scratch/options ]] || fail "--help of $command lists no option"
        while read -r option; do
            grep -qE -- "$option\b" "$page" || fail "docs/git.md lacks $option of git $command"
        done <"$scratch/options"
    done
    for heading in "What is taken back, and what is kept" "What happens when" "What it leaves" "By hand"; do
        grep -qxF "## $heading" "$page" || fail "docs/git.md lacks: $heading"
    done
}
