// The open task of a workspace as the source of a review.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>

#include "cli/screen/model.h"
#include "cli/screen/source.h"

namespace unwrite::cli::screen {

class TaskSource : public Source {
 public:
    /// Asked before anything is foreseen or done; its error is shown, and nothing is done.
    using Check = std::function<Result<>(const overlay::Decision& decision)>;

    /// `text`: for the log.
    TaskSource(Workspace& workspace, std::string text, Check check);

    /// Its changes. A directory that was made or removed with much in it is one of them.
    Result<std::vector<Item>> read();

    Result<Looked> look(const overlay::Change& change) override;
    Result<std::vector<overlay::Change>> inside(const overlay::Change& directory) override;
    Result<std::string> foresee(const std::vector<Judged>& judged) override;
    Result<> carry_out(const std::vector<Judged>& judged) override;
    std::vector<std::string> take_changed() override;
    void forget(const std::string& path) override;

    /// What was carried out.
    const overlay::Decision& decision() const { return decision_; }
    const overlay::Decided& decided() const { return decided_; }

 private:
    std::string full(const std::string& path) const;
    bool is_as_it_was(const overlay::Change& many, const std::vector<overlay::Change>& now) const;
    void note(const overlay::Change& change);
    Result<> read_from(const overlay::Change& change);
    Result<> check_unchanged(const std::vector<Judged>& judged);
    Result<overlay::Decision> decision_for(const std::vector<Judged>& judged);

    Workspace& workspace_;
    std::string text_;
    Check check_;
    std::vector<overlay::Change> changes_;           ///< with directories folded
    std::vector<overlay::Change> order_;             ///< those that can be looked at
    std::map<std::string, overlay::FileDiff> read_;  ///< by key
    std::map<std::string, std::string> prints_;      ///< by path
    std::map<std::string, std::uint64_t> heaps_;     ///< changes below each
    std::vector<std::string> changed_;
    overlay::Decision decision_;
    overlay::Decided decided_;
};

}  // namespace unwrite::cli::screen
