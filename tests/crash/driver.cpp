#include "tests/crash/driver.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include "overlay/reverts.h"
#include "tests/crash/scenarios.h"
#include "tests/support/packing.h"

namespace unwrite::tests {

namespace {

void note(const std::string& progress, const std::string& at) {
    std::ofstream(progress + "/at.new") << at;
    if (std::rename((progress + "/at.new").c_str(), (progress + "/at").c_str()) != 0)
        throw std::runtime_error("note " + at);
}

template <class T>
void require(const Result<T>& result, const Operation& operation) {
    if (!result) throw std::runtime_error(text_of(operation) + ": " + result.error().message());
}

void checkpoint(World& world, const std::string& progress, const Operation& operation) {
    const auto node = world.operations().checkpoint(World::asker(), journal::NodeKind::kCheckpoint,
                                                    operation.a, "");
    require(node, operation);
    save(world.look(), progress + "/node." + std::to_string(node->number));
}

void revert_to_state(overlay::Operations& operations, const Operation& operation) {
    overlay::Reverts& reverts = *overlay::reverts_of(operations);
    const std::string arguments =
        R"({"category":")" + operation.a + R"(","step":")" + std::to_string(operation.x) + R"("})";
    require(reverts.request_revert(World::asker(), arguments, /*for_agent=*/false), operation);
    const auto events = reverts.apply_reverts(World::asker());
    require(events, operation);
    if (events->size() != 1 || events->front().find(R"("applied":true)") == std::string::npos)
        throw std::runtime_error(text_of(operation) + " was not done");
}

// Above what the kernel gives out: an agent by the run that it is registered for.
constexpr pid_t kAgent = 5'000'001;

void begin_run(World& world, const Operations& operations) {
    if (std::none_of(operations.begin(), operations.end(),
                     [](const Operation& operation) { return operation.agent; }))
        return;
    overlay::Asker asker = World::asker();
    asker.pid = kAgent;
    const auto run = world.operations().begin_run(asker, "a run");
    if (!run) throw std::runtime_error("begin_run: " + run.error().message());
}

void change(World& world, const std::string& progress, const Operation& operation,
            const Snapshot& before) {
    overlay::Caller caller;
    caller.pid = operation.agent ? kAgent : ::getpid();
    world.actor().set_caller(caller);
    const auto here = world.operations().status("", false);
    require(here, operation);
    const int number = apply(world.actor(), operation);
    if (number != 0) throw std::runtime_error(text_of(operation) + ": " + std::strerror(number));
    // A division between two sessions makes a node.
    const auto there = world.operations().status("", false);
    require(there, operation);
    if (there->current != here->current)
        save(before, progress + "/node." + std::to_string(there->current));
}

void move(World& world, const std::string& progress, const Operation& operation) {
    overlay::Operations& operations = world.operations();
    const overlay::Asker asker = World::asker();
    const auto count = static_cast<unsigned>(operation.x);
    switch (operation.kind) {
        case Kind::kCheckpoint:
            return checkpoint(world, progress, operation);
        case Kind::kUndo:
            return require(operations.undo(asker, count, overlay::Consent::kAll), operation);
        case Kind::kRedo:
            return require(operations.redo(asker, count, overlay::Consent::kAll), operation);
        case Kind::kRollback:
            return require(operations.rollback(asker, operation.a, false, overlay::Consent::kAll),
                           operation);
        case Kind::kDiscard:
            return require(operations.discard(asker, operation.x != 0, overlay::Consent::kAll),
                           operation);
        case Kind::kCommit:
            return require(operations.commit(asker, "", operation.x != 0), operation);
        case Kind::kDecide:
            return require(operations.decide(
                               asker, {.keep = {operation.a}, .take_back = {operation.b}}, false),
                           operation);
        case Kind::kRevertToState:
            return revert_to_state(operations, operation);
        case Kind::kGc:
            return require(operations.gc({.max_abandoned = operation.x}), operation);
        case Kind::kPack:
            return pack_all(world.directory());
        default:
            throw std::runtime_error("what is " + text_of(operation));
    }
}

}  // namespace

void drive(const std::string& scenario_name, const std::string& directory,
           const std::string& progress) {
    note(progress, "open");
    World world(directory);
    std::size_t i = 0;
    begin_run(world, scenario(scenario_name));
    save(world.look(), progress + "/root.0");
    for (const Operation& operation : scenario(scenario_name)) {
        const Snapshot before = world.look();
        save(before, progress + "/before." + std::to_string(i));
        note(progress, std::to_string(i));
        if (is_change(operation.kind)) {
            change(world, progress, operation, before);
        } else {
            move(world, progress, operation);
            if (packs_at_once()) pack_all(directory);
        }
        ++i;
        if (operation.kind == Kind::kCommit)
            save(world.look(), progress + "/root." + std::to_string(i));
    }
    save(world.look(), progress + "/before." + std::to_string(i));
    note(progress, "done");
}

}  // namespace unwrite::tests
