#include "cli/run_options.h"

#include <cerrno>
#include <cstdlib>

#include "cli/text.h"

namespace unwrite::cli {

Result<Walls> walls_of(const RunOptions& options) {
    const char* set = std::getenv("UNWRITE_CONFINE");
    const std::string named = set != nullptr && *set != '\0' ? set : "yes";
    if (named != "yes" && named != "no" && named != "required") {
        return Error(ErrorKind::kUsage, EINVAL,
                     "run: UNWRITE_CONFINE cannot be " + quote_name(named),
                     "set it to yes, no or required, or unset it");
    }
    if (options.network != "host" && options.network != "none" && options.network != "model") {
        return Error(ErrorKind::kUsage, EINVAL,
                     "run: --network cannot be " + quote_name(options.network),
                     "it is host, model or none");
    }
    if (!options.endpoints.empty() && options.network != "model") {
        return Error(ErrorKind::kUsage, EINVAL, "run: --endpoint is for --network model only",
                     "without it the command reaches the whole network, or nothing of it");
    }
    if (!options.show.empty() && !options.hide_home) {
        return Error(ErrorKind::kUsage, EINVAL, "run: --show is for --hide-home only",
                     "without --hide-home all of your home directory is shown");
    }
    if (options.no_confine && options.hide_home) {
        return Error(ErrorKind::kUsage, EINVAL,
                     "run: --no-confine and --hide-home contradict each other",
                     "leave one of them out");
    }
    if (options.no_confine && (options.require_confinement || options.network != "host")) {
        return Error(ErrorKind::kUsage, EINVAL,
                     std::string("run: --no-confine and ") +
                         (options.require_confinement ? "--require-confinement"
                                                      : "--network " + options.network) +
                         " contradict each other",
                     "leave one of them out");
    }
    if (options.require_confinement) return Walls::kRequired;
    if (options.no_confine) return Walls::kNone;
    if (named == "no" && options.network == "host" && !options.hide_home) return Walls::kNone;
    return named == "required" ? Walls::kRequired : Walls::kWanted;
}

}  // namespace unwrite::cli
