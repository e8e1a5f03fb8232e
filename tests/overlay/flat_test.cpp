// What going back costs does not depend on how many states there are (S30). Counted are the rows
// that are read out of the database.
#include <gtest/gtest.h>

#include "tests/overlay/looking.h"

namespace unwrite::tests {
namespace {

class Flat : public Looking {
 protected:
    /// The rows that `work` reads.
    template <class Work>
    static std::uint64_t rows_of(const Work& work) {
        const std::uint64_t before = journal::rows_read();
        const auto done = work();
        EXPECT_TRUE(done.ok()) << done.error().message();
        return journal::rows_read() - before;
    }
    /// Of each operation once, after a change that is sealed.
    std::vector<std::uint64_t> rows_of_all() {
        using overlay::Consent;
        replace("a", "other\n");
        checkpoint("mark");
        replace("a", "third\n");
        return {
            rows_of([&] {
                return operations().checkpoint(World::asker(), overlay::NodeKind::kCheckpoint, "",
                                               "");
            }),
            rows_of([&] { return operations().undo(World::asker(), 1, Consent::kAll); }),
            rows_of([&] { return operations().redo(World::asker(), 1, Consent::kAll); }),
            rows_of([&] {
                return operations().rollback(World::asker(), "mark", false, Consent::kAll);
            }),
        };
    }
};

TEST_F(Flat, S30_GoingBackReadsNoMoreAmongAThousandStatesThanAmongTen) {
    before("a", "one\n");
    begin();
    for (int i = 0; i < 10; ++i)
        checkpoint();
    static_cast<void>(rows_of_all());
    const std::vector<std::uint64_t> among_ten = rows_of_all();
    for (int i = 0; i < 1000; ++i)
        checkpoint();
    EXPECT_EQ(rows_of_all(), among_ten);
    for (const std::uint64_t rows : among_ten)
        EXPECT_LT(rows, 20U);
}

}  // namespace
}  // namespace unwrite::tests
