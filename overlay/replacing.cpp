#include "overlay/replacing.h"

#include "base/lend_mode.h"

namespace unwrite::overlay {

using journal::Attic;

namespace {

constexpr const char* kPrefix = "r-";

// The note's text: the key of the directory, a newline, the name's bytes.
std::optional<NameKey> parse(const std::string& text) {
    const std::size_t end = text.find('\n');
    if (end == std::string::npos || end + 1 == text.size()) return std::nullopt;
    const auto parent = Attic::parse_name(std::string_view(text).substr(0, end));
    if (!parent) return std::nullopt;
    return NameKey{*parent, text.substr(end + 1)};
}

Result<> finish_one(Locator& locator, const ObjectKey& victim, const NameKey& name) {
    const auto standing = locator.standing(name);
    if (!standing || !*standing || (*standing)->key != victim)
        return {};  // it had not begun, or was done
    TRY_ASSIGN(const HandlePtr parent, locator.directory(name.parent));
    return sys::lend_access(parent->fd.get(), [&] {
        return locator.objects().attic().displace(parent->fd.get(), name.name, victim,
                                                  S_ISDIR((*standing)->type));
    });
}

}  // namespace

Result<> note_replacing(const Attic& attic, const ObjectKey& victim, const NameKey& name) {
    const std::string text = Attic::file_name(name.parent) + '\n' + name.name;
    return sys::replace_file_at(attic.directory(), kPrefix + Attic::file_name(victim), text, 0600);
}

Result<> forget_replacing(const Attic& attic, const ObjectKey& victim) {
    return sys::unlink(attic.directory(), kPrefix + Attic::file_name(victim));
}

Result<> finish_replacing(Locator& locator) {
    const Attic& attic = locator.objects().attic();
    TRY_ASSIGN(const UniqueFd fd, sys::open_at(attic.directory(), ".", O_RDONLY | O_DIRECTORY));
    TRY_ASSIGN(const auto entries, sys::read_directory(fd.get()));
    for (const auto& entry : entries) {
        if (entry.name.starts_with(std::string(".") + kPrefix))
            TRY(sys::unlink(attic.directory(), entry.name));  // half a note
        if (!entry.name.starts_with(kPrefix)) continue;
        const auto victim = Attic::parse_name(std::string_view(entry.name).substr(2));
        if (!victim) continue;
        TRY_ASSIGN(const std::string text, sys::read_file_at(attic.directory(), entry.name));
        const auto name = parse(text);
        if (name && !attic.contains(*victim)) TRY(finish_one(locator, *victim, *name));
        TRY(forget_replacing(attic, *victim));
    }
    return {};
}

}  // namespace unwrite::overlay
