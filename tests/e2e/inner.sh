# Another filesystem inside the workspace.
# shellcheck shell=bash

# A volume of a container, say: it stops nothing, and nothing is promised about it.
S48_S55_another_filesystem_inside_the_workspace() {
    mkdir -p "$W/src" "$W/node_modules"
    echo one >"$W/src/a"
    remember start
    mount -t tmpfs none "$W/node_modules" 2>/dev/null || skip "needs the right to mount"
    echo there >"$W/node_modules/there"
    begin
    err_has "node_modules (tmpfs) is another filesystem: changes there are not recorded"
    say "the user works in it as ever"
    echo two >src/a
    echo more >>node_modules/there
    mkdir node_modules/p
    echo new >node_modules/p/new
    mv node_modules/p node_modules/q
    rm node_modules/there
    equal node_modules/q/new new
    u status
    out_has "node_modules (tmpfs) is another filesystem"
    out_has "M  src/a"
    out_lacks "q/new"
    u status --json
    json "j['not_recorded'] == ['node_modules']"
    say "an agent does not, unless somebody agrees"
    u run --on-exit keep -- sh -c 'cat node_modules/q/new; echo agent >node_modules/agent; echo agent >src/b; true'
    err_has "node_modules"
    absent node_modules/agent
    present src/b
    say "what is beside it is taken back"
    u undo
    absent src/b
    u undo
    equal src/a one
    u redo 2
    u discard --yes
    equal src/a one
    equal node_modules/q/new new
    end
    umount "$W/node_modules"
    same start
    check_state
}
