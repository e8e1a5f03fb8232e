#!/bin/bash
# S107 S108 S119 S128: a comment on GitHub, from its text to the answer: integrations/github/undo-comment with the built
# program, a real repository with a bare remote, and the gh of stub/.
set -euo pipefail
source_dir=${UNWRITE_SOURCE_DIR:?}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/undo-comment.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
export UNWRITE=${UNWRITE_BUILD_DIR:?}/unwrite GH_STUB=$scratch/gh HOME=$scratch GIT_CONFIG_GLOBAL=/dev/null
export PATH=$source_dir/tests/git/stub:$PATH ISSUE=7
mkdir "$scratch/gh" "$scratch/work"
cd "$scratch/work"

fail() { echo "FAILED: $*" >&2; cat "$GH_STUB/calls" >&2 || true; exit 1; }
# comment TEXT EXIT-CODE: the script's exit code, with the calls of gh noted anew.
comment() {
    local code=0
    rm -f "$GH_STUB"/*.count "$GH_STUB/calls"
    : >"$GH_STUB/calls"
    COMMENT=$1 "$source_dir/integrations/github/undo-comment" >"$scratch/out" 2>&1 || code=$?
    [[ $code == "$2" ]] || { cat "$scratch/out" >&2; fail "\"$1\" ended with $code, not $2"; }
}
answered() { grep -qF -- "$1" "$GH_STUB/calls" || fail "no answer with \"$1\""; }
silent() { ! grep -q '^issue comment' "$GH_STUB/calls" || fail "there should be no answer"; }
holds() { [[ $(cat "$1") == "$2" ]] || fail "$1 holds $(cat "$1")"; }

git init -q -b main
git config user.name t
git config user.email t@example.invalid
echo 0 >a
git add a
git commit -q -m start
for turn in 1 2 3; do
    echo "$turn" >a
    git commit -q -a -m "gitclaw: work on issue #7"
done
git init -q --bare -b main ../origin.git
git remote add origin ../origin.git
git push -q -u origin main

for text in "hello" "/undone" "please /undo" "/undo-all" ""; do
    comment "$text" 0
    silent
done
for text in "/undo 0" "/undo -1" "/undo many" "/undo 1; touch pwned" "/undo \$(touch pwned)" "/undo 1 2"; do
    comment "$text" 0
    answered "Could not undo"
    holds a 3
done
[[ ! -e pwned ]] || fail "a comment became a command"

comment $'/undo\r' 0
answered "Undo complete"
holds a 2
[[ $(git rev-parse HEAD) == $(git -C ../origin.git rev-parse main) ]] || fail "the revert was not pushed"
comment $'/undo 2\nthank you' 0
holds a 0
comment "/undo" 0
answered "undone already"

ISSUE=8 comment "/undo" 0
answered "Nothing to undo"
echo 4 >a
git commit -q -a -m "gitclaw: work on issue #7"
echo unsaved >a
comment "/undo" 0
answered "uncommitted changes"
git commit -q -a -m "by a person"
comment "/undo" 0
answered "What you can do:"

# A merged pull request: the offer, then the yes.
echo x >b
git add b
git commit -q -m "Do it (#3)"
git push -q
printf '[{"number":3,"url":"https://h/3","title":"Do it","baseRefName":"main","mergeCommit":{"oid":"%s"}}]' \
    "$(git rev-parse HEAD)" >"$GH_STUB/pr-list-merged.out"
printf '{"commits":[{"oid":"%s","messageHeadline":"x"}]}' "$(git rev-parse HEAD~2)" >"$GH_STUB/pr-view.out"
echo https://h/4 >"$GH_STUB/pr-create.out"
comment "/undo" 0
answered "/undo revert"
comment "/undo revert" 0
answered "https://h/4"
git ls-remote --exit-code -q origin refs/heads/revert-3-issue-7 >/dev/null || fail "no branch for the revert"

# What was done is told even where it is too much for a comment.
for number in $(seq 700); do
    name=$(printf '%0120d' "$number")
    echo x >"$name"
done
git add .
git commit -q -m "gitclaw: work on issue #9"
ISSUE=9 comment "/undo" 0
answered "Undo complete"
[[ $(grep '^issue comment' "$GH_STUB/calls" | wc -c) -lt 66000 ]] || fail "the answer is too long"

# The workflow itself: started by comments alone, and no expression is part of a command.
if python3 -c 'import yaml' 2>/dev/null; then
    python3 - "$source_dir/integrations/github/undo.yml" <<'END'
import sys, yaml
flow = yaml.safe_load(open(sys.argv[1]))
triggers = flow.get("on", flow.get(True))
assert list(triggers) == ["issue_comment"], triggers
job = flow["jobs"]["undo"]
assert "author_association" in job["if"]
for step in job["steps"]:
    assert "${{" not in step.get("run", ""), step
END
fi
echo ok
