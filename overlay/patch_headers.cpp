#include "overlay/patch_headers.h"

#include <sys/stat.h>

#include "edit/patch_names.h"

namespace unwrite::overlay {

using edit::quoted_name;

namespace {

std::string octal(std::uint32_t number) {
    std::string digits;
    for (; number > 0; number /= 8)
        digits.insert(digits.begin(), static_cast<char>('0' + number % 8));
    return digits;
}

const std::string& name_of(const PatchSide& side, const PatchSide& other) {
    return side.mode != 0 ? side.path : other.path;
}

std::string label(const char* prefix, const PatchSide& side) {
    return side.mode == 0 ? "/dev/null" : quoted_name(prefix + side.path);
}

// As git, which ends a name with a space in it by a tab, so that patch(1) does not take a part of
// it for a date.
std::string label_line(const char* mark, const std::string& label) {
    return mark + label + (label.find(' ') != std::string::npos ? "\t\n" : "\n");
}

}  // namespace

std::uint32_t git_mode(std::uint32_t mode) {
    if (S_ISLNK(mode)) return S_IFLNK;
    if (!S_ISREG(mode)) return 0;
    return S_IFREG | ((mode & S_IXUSR) != 0 ? 0755U : 0644U);
}

std::string patch_header(const PatchSide& older, const PatchSide& newer, unsigned similarity) {
    std::string text = "diff --git " + quoted_name("a/" + name_of(older, newer)) + ' ' +
                       quoted_name("b/" + name_of(newer, older)) + '\n';
    if (older.mode == 0) return text + "new file mode " + octal(newer.mode) + '\n';
    if (newer.mode == 0) return text + "deleted file mode " + octal(older.mode) + '\n';
    if (older.mode != newer.mode)
        text += "old mode " + octal(older.mode) + "\nnew mode " + octal(newer.mode) + '\n';
    if (older.path != newer.path) {
        text += "similarity index " + std::to_string(similarity) + "%\n";
        text += "rename from " + quoted_name(older.path) + "\nrename to " +
                quoted_name(newer.path) + '\n';
    }
    return text;
}

std::string hunk_header(const PatchSide& older, const PatchSide& newer) {
    return label_line("--- ", label("a/", older)) + label_line("+++ ", label("b/", newer));
}

std::string binary_line(const PatchSide& older, const PatchSide& newer) {
    return "Binary files " + label("a/", older) + " and " + label("b/", newer) + " differ\n";
}

}  // namespace unwrite::overlay
