# A task from its beginning to its end: turns, questions, what is booked to whom, what stays outside.
# shellcheck shell=bash

S45_reading_is_as_it_was() {
    needs_root "to become somebody else"
    echo open >"$W/open"
    echo private >"$W/private"
    chmod 600 "$W/private"
    begin --allow-other
    # read_it: what an agent and another user may read, and what they may not.
    read_it() {
        u run --on-exit ask -- sh -c 'cat open private && grep -r -q private . && find . -ls'
        out_has private
        setpriv --reuid=nobody --clear-groups cat open >/dev/null
        ! setpriv --reuid=nobody --clear-groups cat private 2>/dev/null || fail "nobody reads a private file"
    }
    read_it
    u checkpoint
    u --json check
    local records
    records=$(json_value 'j["records"]')
    read_it
    say "nothing was written down for it, and there is nothing to take back"
    u --json check
    json "j['records'] == $records"
    u status --line
    equal "$scratch/out" "[checkpoint: 0 files changed]"
    expect 3 undo
    end
}

# source_of: what /proc/mounts calls the mount.
source_of() { awk -v at="$W" '$2 == at { print $1 }' /proc/mounts; }

S53_S67_one_mount_follows_the_other() {
    begin
    local name
    name=$(source_of)
    [[ $name == unwrite:* ]] || fail "no mount of ours: $name"
    echo one >file
    for _ in 1 2 3; do
        say "a mount right after the end was asked for"
        kill -TERM "$daemon"
        begin
        [[ $(source_of) == "$name" ]] || fail "it is called $(source_of) now, and was $name"
        equal file one
    done
    end
    say "a mount whose history is still being closed"
    flock "$W/.unwrite/lock" sleep 4 &
    sleep 0.2
    begin
    err_has "Waiting for the previous mount of"
    [[ $(source_of) == "$name" ]] || fail "the name is another one"
    end
    wait
}

# on_a_terminal ANSWER... -- ARGUMENTS...: unwrite there; what was shown is in $scratch/out, its exit status the result.
on_a_terminal() {
    local dialogue=()
    while [[ $1 != -- ]]; do
        dialogue+=("$1")
        shift
    done
    shift
    python3 "$here/terminal.py" "${dialogue[@]}" -- "$program" "$@" >"$scratch/out"
}

S40_only_what_is_final_asks() {
    seq 10 >"$W/f"
    begin
    say "everything that can be taken back is done without a question, on a terminal too"
    on_a_terminal -- run --on-exit keep -- sh -c 'echo x >>f; rm -f gone; mkdir d'
    on_a_terminal -- checkpoint
    on_a_terminal -- undo
    on_a_terminal -- redo
    on_a_terminal -- rollback root
    on_a_terminal -- redo 9
    [[ $(tail -n 1 f) == x ]]
    remember changed
    say "a commit drops the way back, and a discard all of the work: both ask, and only y is a yes"
    local verb code
    for verb in commit discard "discard --purge"; do
        code=0
        # What is neither is asked again.
        # shellcheck disable=SC2086
        on_a_terminal "(y/n)=" "(y/n)=maybe" "(y/n)=x" "(y/n)=n" -- $verb || code=$?
        [[ $code == 3 ]] || fail "$verb, answered with n, ended with $code"
        same changed
    done
    on_a_terminal "(y/n)=y" -- commit
    same changed
    expect 3 undo
    end
}

S52_one_task_over_several_turns() {
    seq 10 >"$W/f"
    echo old >"$W/gone"
    remember start
    begin
    u run --on-exit keep -- sh -c 'echo first >>f'
    u run --on-exit keep -- sh -c 'echo second >>f; rm gone'
    say "a mount ended and begun again is the same task"
    end
    begin
    u run --on-exit keep -- sh -c 'echo third >>f; echo new >made'
    u --json status
    json 'j["task_open"] is True and j["root"] == 1'
    json '{c["path"]: c["kind"] for c in j["changes"]} == {"f": "modified", "gone": "deleted", "made": "created"}'
    u discard --yes
    same start
    say "a discard of all the steps is reversed at once"
    u redo
    equal f "$(seq 10; printf 'first\nsecond\nthird\n')"
    remember done
    say "the next task begins where this one was accepted, whatever is discarded then"
    u commit --yes
    u --json status
    json 'j["task_open"] is False and j["changes"] == []'
    echo more >>f
    u --json status
    json 'j["task_open"] is True and len(j["changes"]) == 1'
    u discard --yes
    same done
    end
}

S55_review_shows_each_file_and_then_decides() {
    printf 'one\ntwo\n' >"$W/f"
    echo old >"$W/gone"
    begin
    on_a_terminal "[R]eview=r" "[R]eview=c" "(y/n)=y" -- run -- sh -c 'sed -i s/two/2/ f; rm gone; echo new >made'
    cat "$scratch/out"
    local line
    for line in "--- a/f" "-two" "+2" "--- a/gone" "-old" "+++ b/made" "+new" "Accepted for good"; do out_has "$line"; done
    equal f $'one\n2'
    absent gone
    expect 3 discard --yes
    equal made new
    say "without an answer nothing is decided"
    on_a_terminal "[R]eview=k" -- run -- sh -c 'rm made'
    absent made
    u undo
    equal made new
    end
}

S69_every_change_is_linked_to_its_checkpoint() {
    for i in f g h; do echo old >"$W/$i"; done
    begin
    u checkpoint a
    remember at_a
    u run --on-exit keep --session bot -- sh -c 'echo 1 >>f; echo new >made'
    echo 2 >>g
    u checkpoint b
    remember at_b
    mv h moved
    u checkpoint c
    remember at_c
    u --json log --all --changes
    python3 - "$scratch/out" <<'PYTHON'
import json, sys
log = json.load(open(sys.argv[1]))
origins = {one["number"]: one for one in log["origins"]}
by_name = {e["node"]["name"] or e["node"]["kind"]: e for e in log["entries"]}
def changes(name):
    return {c["path"]: (c["kind"], [origins[o]["session"] for o in c["origins"]]) for c in by_name[name]["changes"]}
assert changes("a") == {}, changes("a")
assert changes("run") == {"f": ("modified", ["bot"]), "made": ("created", ["bot"])}, changes("run")
assert changes("b") == {"g": ("modified", ["user"])}, changes("b")
assert changes("c") == {"moved": ("renamed", ["user"])}, changes("c")
run = by_name["run"]["node"]
agents = [one for one in log["origins"] if one["agent"]]
assert agents and all(str(one["step"]) == run["tags"]["step.run"] and one["session"] == "bot" for one in agents), agents
assert run["text"].startswith("sh -c echo 1"), run
PYTHON
    end
    say "the journal alone is enough: no mount, no daemon, and all ways back and forth"
    u -C "$W" rollback b
    same at_b
    u -C "$W" rollback a
    same at_a
    u -C "$W" redo 9
    same at_c
    u -C "$W" undo bot
    equal "$W/f" old
    absent "$W/made"
    equal "$W/g" $'old\n2'
    check_state
}

S40_S46_what_leaves_the_machine_asks() {
    needs git python3
    git init -q --bare "$scratch/elsewhere"
    git -C "$W" init -q
    git -C "$W" commit -q --allow-empty -m one
    git -C "$W" remote add origin "$scratch/elsewhere"
    say "a client sees which operations can be taken back, and asks"
    u --json policy classes
    json '({"write-tracked yes none", "write-untracked yes none", "write-denied n/a blocked", "read n/a reading", "run-unknown no required", "remote no required"}
        <= {" ".join((c["name"], c["reversible"], c["approval"])) for c in j["classes"]})'
    u --json policy classes -- git push origin main
    json 'j["name"] == "remote" and j["reversible"] == "no"'
    u policy classes -- ls -l
    out_has "run-read-only"
    begin
    say "so does a run: without a terminal it names the flag, and nothing is run"
    expect 2 run --no-confine --on-exit keep -- git push -q origin HEAD:main
    err_has "cannot be taken back"
    err_has "--yes"
    [[ -z $(git -C "$scratch/elsewhere" branch) ]] || fail "it was pushed"
    python3 "$here/terminal.py" "(y/n)=n" -- "$program" run --no-confine --on-exit keep -- git push -q origin HEAD:main >"$scratch/shown" || [[ $? == 3 ]]
    [[ -z $(git -C "$scratch/elsewhere" branch) ]] || fail "it was pushed"
    python3 "$here/terminal.py" "(y/n)=y" -- "$program" run --no-confine --on-exit keep -- git push -q origin HEAD:main >"$scratch/shown"
    [[ -n $(git -C "$scratch/elsewhere" branch) ]] || fail "it was not pushed"
    u run --no-confine --yes --on-exit keep -- git push -q origin HEAD:other
    say "and everything else is run without a question"
    u run --on-exit keep -- git status
    u discard --yes
    end
}

S70_what_a_run_does_elsewhere_stays() {
    echo here >"$W/f"
    remember start
    begin
    say "what a command does beside the workspace is not undone, and nobody says that it is"
    u run --on-exit keep -- sh -c "echo x >>f; echo out >'$scratch/outside'; ln -s '$scratch/outside' link; echo more >>link"
    u --json status
    json 'sorted(c["path"] for c in j["changes"]) == ["f", "link"]'
    u discard --yes
    same start
    equal "$scratch/outside" $'out\nmore'
    end
}

S69_log_always_marks_where_the_files_are() {
    for i in f g; do echo old >"$W/$i"; done
    begin
    echo mine >f
    u run --on-exit keep --session bot -- sh -c 'echo bot >g'
    marked() {
        u log && [[ $(grep -c '^@ ' "$scratch/out") == 1 ]] || fail "one line of the log is the present state"
        at=$(sed -n 's/^@ \(n[0-9]*\) .*/\1/p' "$scratch/out")
        [[ -z ${1-} || $at == "$1" ]] || fail "log marks $at, not $1"
        u status
        out_has ": at $at,"
    }
    says() { sed -nE '1s/.*[( ](n[0-9]+)\).*/\1/p' "$scratch/out"; }
    marked
    local after=$at
    say "the state before a run is the beginning of that run, which log does not list"
    u undo
    err_has "This undoes changes made by bot (dash)."
    marked "$(says)"
    [[ $at == n2 ]] || fail "at $at"
    u undo
    marked "$(says)"
    [[ $at == n1 ]] || fail "at $at"
    u redo
    marked "$(says)"
    u redo
    marked "$(says)"
    [[ $at == "$after" ]] || fail "redo led to $at"
    u undo
    marked "$(says)"
    u rollback root
    u redo
    marked "$(says)"
    end
}
