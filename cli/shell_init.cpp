#include "cli/shell_init.h"

#include "cli/manual.h"

namespace unwrite::cli {

namespace {

// `cd` to the same path enters what is mounted there now. OLDPWD stays, so that `cd -` still works.
constexpr const char* kBash = R"sh(# unwrite in bash: eval "$(unwrite shell-init bash)" in ~/.bashrc
unwrite() {
    local code=0
    UNWRITE_SHELL=bash command unwrite "$@" || code=$?
    __unwrite_enter
    return "$code"
}
__unwrite_enter() {
    [[ . -ef $PWD || ! -d $PWD ]] && return
    local before=${OLDPWD-}
    builtin cd -- "$PWD" 2>/dev/null && OLDPWD=$before
    return 0
}
__unwrite_prompt() {
    local code=$?
    __unwrite_enter
    UNWRITE_PROMPT=$(command unwrite status --line 2>/dev/null)
    UNWRITE_PROMPT=${UNWRITE_PROMPT:+$UNWRITE_PROMPT }
    return "$code"
}
if [[ $- == *i* && $PS1 != *UNWRITE_PROMPT* ]]; then
    PS1='${UNWRITE_PROMPT-}'$PS1
    PROMPT_COMMAND="__unwrite_prompt${PROMPT_COMMAND:+; $PROMPT_COMMAND}"
fi
)sh";

constexpr const char* kZsh = R"sh(# unwrite in zsh: eval "$(unwrite shell-init zsh)" in ~/.zshrc
unwrite() {
    local code=0
    UNWRITE_SHELL=zsh command unwrite "$@" || code=$?
    __unwrite_enter
    return $code
}
__unwrite_enter() {
    setopt localoptions noautopushd
    [[ . -ef $PWD || ! -d $PWD ]] && return 0
    local before=$OLDPWD
    builtin cd -q -- "$PWD" 2>/dev/null && OLDPWD=$before
    return 0
}
__unwrite_prompt() {
    __unwrite_enter
    UNWRITE_PROMPT=$(command unwrite status --line 2>/dev/null)
    UNWRITE_PROMPT=${UNWRITE_PROMPT:+${UNWRITE_PROMPT//\%/%%} }
}
if [[ -o interactive && $PROMPT != *UNWRITE_PROMPT* ]]; then
    setopt prompt_subst
    PROMPT='${UNWRITE_PROMPT-}'$PROMPT
    autoload -Uz add-zsh-hook && add-zsh-hook precmd __unwrite_prompt
fi
)sh";

constexpr const char* kFish =
    R"sh(# unwrite in fish: unwrite shell-init fish | source, in ~/.config/fish/config.fish
function unwrite
    UNWRITE_SHELL=fish command unwrite $argv
    set -l code $status
    __unwrite_enter
    return $code
end
function __unwrite_enter --on-event fish_prompt
    if test -d "$PWD"; and not test . -ef "$PWD"
        builtin cd $PWD 2>/dev/null
    end
end
if status is-interactive; and not functions -q __unwrite_right_prompt
    if functions -q fish_right_prompt
        functions -c fish_right_prompt __unwrite_right_prompt
    else
        function __unwrite_right_prompt
        end
    end
    function fish_right_prompt
        command unwrite status --line 2>/dev/null
        __unwrite_right_prompt
    end
end
)sh";

/// What a file in zsh's function path begins and ends with is for who reads it as such.
std::string evaluated_in_zsh(std::string script) {
    const std::string call = "_unwrite \"$@\"\n";
    if (script.ends_with(call)) script.erase(script.size() - call.size());
    return script + "(( $+functions[compdef] )) && compdef _unwrite unwrite\n";
}

}  // namespace

Result<std::string> shell_init(const CLI::App& app, const std::string& shell) {
    const auto completion = completion_script(app, shell);
    if (!completion)
        return Error(ErrorKind::kUsage, EINVAL, "shell-init " + shell + ": unknown shell",
                     "the shells are bash, zsh and fish");
    if (shell == "bash") return kBash + *completion;
    if (shell == "fish") return kFish + *completion;
    return kZsh + evaluated_in_zsh(*completion) + "true\n";
}

}  // namespace unwrite::cli
