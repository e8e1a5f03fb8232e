// The checker: everything the state directory holds is read, and compared with everything else.
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <unordered_map>

#include "base/progress.h"
#include "journal/annex.h"
#include "journal/audit.h"
#include "journal/data_file.h"
#include "journal/delta_format.h"
#include "journal/frames.h"
#include "journal/journal.h"
#include "journal/pack.h"

namespace unwrite::journal {

namespace {

std::string node_name(NodeNumber number) {
    return "n" + std::to_string(number);
}

std::string delta_name(DeltaNumber number) {
    return "delta " + std::to_string(number);
}

std::string object_name(const ObjectKey& key) {
    return "object " + Attic::file_name(key);
}

/// By node: the one above all above it; 0 where something is missing on the way, or it is a loop.
using Tops = std::unordered_map<NodeNumber, NodeNumber>;
Tops tops_of(const std::unordered_map<NodeNumber, NodeNumber>& parents) {
    Tops tops;
    for (const auto& [number, parent] : parents) {
        std::vector<NodeNumber> passed;
        NodeNumber at = number;
        for (;; at = parents.at(at)) {
            if (!parents.contains(at) || !tops.try_emplace(at, 0).second) break;
            passed.push_back(at);
            if (parents.at(at) == 0) tops[at] = at;
            if (parents.at(at) == 0) break;
        }
        const auto end = tops.find(at);
        const NodeNumber top = end == tops.end() ? 0 : end->second;
        for (const NodeNumber one : passed)
            tops[one] = top;
    }
    return tops;
}

/// Every node leads to the first state in finitely many steps.
void check_parents(const Head& head, const std::vector<Node>& nodes, CheckReport& report) {
    std::unordered_map<NodeNumber, NodeNumber> parents;
    for (const Node& node : nodes)
        parents[node.number] = node.parent;
    const auto require = [&](NodeNumber number, std::string_view what) {
        if (parents.contains(number)) return;
        report.problems.push_back(std::string(what) + " is " + node_name(number) +
                                  ", which does not exist");
    };
    require(head.root, "the root");
    require(head.current, "the current node");
    if (head.redo_tip != 0) require(head.redo_tip, "the node to redo to");
    // A commit that keeps the history moves the root down: the first state stays above it.
    const Tops tops = tops_of(parents);
    const auto top_of = [&](NodeNumber number) {
        const auto found = tops.find(number);
        return found == tops.end() ? 0 : found->second;
    };
    const NodeNumber top = top_of(head.root);
    if (top == 0) report.problems.push_back("the root does not lead to the first state");
    for (const Node& node : nodes) {
        if (top_of(node.number) != top) {
            report.problems.push_back("node " + node_name(node.number) +
                                      " does not lead to the root");
        } else if (node.parent != 0 && node.delta == 0) {
            report.problems.push_back("node " + node_name(node.number) + " has no delta");
        }
    }
}

std::uint32_t type_of(const ObjectImage& image) {
    if (image.attributes) return image.attributes->mode & S_IFMT;
    return image.size ? std::uint32_t{S_IFREG} : 0U;  // only files have content
}

/// The objects a delta mentions, with their types where it says them.
void collect_types(const Delta& delta, std::unordered_map<ObjectKey, std::uint32_t>& types) {
    for (const ObjectKey& key : delta.mentioned())
        types.try_emplace(key, 0U);
    for (const auto& [at, state] : delta.names) {
        if (state.image.object && state.image.type != 0)
            types[*state.image.object] = state.image.type;
    }
    for (const auto& [key, image] : delta.objects) {
        if (const std::uint32_t type = type_of(image); type != 0) types[key] = type;
    }
}

void check_content(DeltaNumber number, const Delta& delta, std::uint64_t data_size,
                   CheckReport& report) {
    for (const auto& [key, image] : delta.objects) {
        const bool outside =
            std::any_of(image.content.begin(), image.content.end(), [&](const ContentImage& part) {
                return part.position != ContentImage::kHole &&
                       (part.position > data_size || part.length > data_size - part.position);
            });
        if (!outside) continue;
        report.problems.push_back(delta_name(number) + ": bytes of " + object_name(key) +
                                  " lie beyond the end of the data file");
    }
}

/// Reads one delta; damage is a problem, not an error.
Result<Delta> check_delta(int deltas, DeltaNumber number,
                          const std::optional<std::vector<DeltaSeal>>& seals, CheckReport& report) {
    const auto data_size = delta_data_size(deltas, number);
    if (!data_size && data_size.error().kind() != ErrorKind::kCorrupt) return data_size.error();
    TRY_ASSIGN(const std::string text, read_whole(deltas, delta_log_name(number)));
    ++report.deltas;
    report.bytes += delta_bytes(deltas, number);
    auto parsed = parse_delta(std::as_bytes(std::span(text)), number);
    if (!parsed) {
        report.problems.push_back(parsed.error().message());
        return Delta();
    }
    if (seals) {
        const Result<> sealed = check_seal(deltas, number, text, *seals);
        if (!sealed) report.problems.push_back(sealed.error().message());
    }
    report.records += parsed->records;
    // What cannot be told is damage that check_captured() names.
    if (data_size) check_content(number, parsed->delta, *data_size, report);
    return std::move(parsed->delta);
}

/// Every object that is mentioned can be found again.
void check_objects(const std::unordered_map<ObjectKey, std::uint32_t>& types,
                   const std::set<ObjectKey>& tops, const Attic& attic, const Places& places,
                   CheckReport& report) {
    std::vector<std::string> missing;
    for (const auto& [key, type] : types) {
        if (tops.contains(key) || attic.contains(key) || places.contains(key)) continue;
        missing.push_back((type == S_IFDIR ? "directory " : "") + object_name(key) +
                          " is in the journal, but neither in the attic nor in places.log");
    }
    std::sort(missing.begin(), missing.end());
    report.problems.insert(report.problems.end(), missing.begin(), missing.end());
}

/// What stands in the attic under a key's name is that object.
Result<> check_attic(const Attic& attic, CheckReport& report) {
    for (const ObjectKey& key : attic.list()) {
        ++report.attic_objects;
        const auto found = sys::statx_at(attic.directory(), Attic::file_name(key));
        if (!found && found.error().number() != ENOENT) return found.error();
        if (found && found->st.st_ino == key.ino && found->birth == key.birth) continue;
        report.problems.push_back(found ? "attic: another object stands under the name of " +
                                              object_name(key)
                                        : "attic: " + object_name(key) + " is gone");
    }
    return {};
}

}  // namespace

Result<CheckReport> Journal::check() {
    CheckReport report;
    {
        const std::lock_guard lock(store_mutex_);
        TRY_ASSIGN(report.problems, store_->integrity_problems());
        TRY_ASSIGN(const Head head, store_->head());
        TRY_ASSIGN(const std::vector<Node> nodes, store_->nodes());
        check_parents(head, nodes, report);
    }
    TRY_ASSIGN(const std::set<DeltaNumber> deltas, referenced_deltas());
    std::unordered_map<ObjectKey, std::uint32_t> types;
    Progress progress("checking", deltas.size());
    for (const DeltaNumber number : deltas) {
        progress.step();
        TRY_ASSIGN(const auto seals, seals_of(number));
        TRY_ASSIGN(const Delta delta, check_delta(state_dir_.deltas(), number, seals, report));
        collect_types(delta, types);
    }
    TRY_ASSIGN(const sys::StatX root, sys::statx_at(workspace_.get(), ""));
    std::set<ObjectKey> tops{{root.st.st_ino, root.birth}};
    const auto annex = read_annex(state_dir_.fd());
    if (!annex) report.problems.push_back(annex.error().message());
    if (annex && *annex) tops.insert((*annex)->key);
    check_objects(types, tops, *attic_, *places_, report);
    TRY(check_attic(*attic_, report));
    TRY_ASSIGN(AuditTrail trail, read_audit(state_dir_.fd()));
    report.problems.insert(report.problems.end(), trail.problems.begin(), trail.problems.end());
    return report;
}

Result<std::vector<std::string>> Journal::check_captured() {
    TRY_ASSIGN(const std::set<DeltaNumber> deltas, referenced_deltas());
    std::vector<std::string> problems = checksums_->problems();
    Progress progress("checking captured bytes", deltas.size());
    for (const DeltaNumber number : deltas) {
        progress.step();
        TRY_ASSIGN(const auto found,
                   captured_problems(state_dir_.deltas(), number, checksums_->find(number)));
        problems.insert(problems.end(), found.begin(), found.end());
    }
    return problems;
}

}  // namespace unwrite::journal
