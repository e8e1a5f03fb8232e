#!/bin/bash
# install.sh DIR: installs the agents of `versions` into DIR with npm, unless they are there. Exit status 77, with the
# reason, when npm cannot give them.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
directory=${1:?install.sh needs a directory}

wanted=()
while read -r package version; do
    [[ -z $package || $package == \#* ]] || wanted+=("$package@$version")
done <"$here/versions"

# missing: the first package that is not there in the version asked for; its programs must be there too.
missing() {
    local one name
    for one in "${wanted[@]}"; do
        name=${one%@*}
        grep -qF "\"version\": \"${one##*@}\"" "$directory/node_modules/$name/package.json" 2>/dev/null || { echo "$one"; return; }
    done
    for name in claude codex gemini opencode; do
        [[ -x $directory/node_modules/.bin/$name ]] || { echo "$name"; return; }
    done
}
[[ -n $(missing) ]] || exit 0
skip() { echo "SKIPPED: npm could not install the agents: $*" >&2; exit 77; }
command -v npm >/dev/null || skip "there is no npm"
mkdir -p "$directory" || exit 1
# Another test may be at it; and what npm could not fetch a moment ago is not asked for again by the next one.
exec 9>"$directory/lock"
flock -w 280 9 || skip "another test was not done with it in time"
[[ -n $(missing) ]] || exit 0
if [[ -n $(find "$directory/refused" -mmin -10 2>/dev/null) ]]; then skip "$(head -n 1 "$directory/refused")"; fi
cd "$directory" || exit 1
[[ -f package.json ]] || echo '{"private": true}' >package.json
if ! timeout 270 npm install --no-audit --no-fund --loglevel=error "${wanted[@]}" >"$directory/npm.log" 2>&1; then
    { tail -n 1 "$directory/npm.log"; echo "npm failed"; } >"$directory/refused"
    skip "$(head -n 1 "$directory/refused")"
fi
rest=$(missing)
[[ -z $rest ]] || skip "$rest did not arrive"
rm -f "$directory/refused"
