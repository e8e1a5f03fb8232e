// Installing: an integration put into a client's files, and taken out again. What was there before
// is remembered in the user's state directory, so that taking it out gives back the same bytes.
#pragma once

#include <string>
#include <vector>

#include "cli/file_set.h"
#include "cli/integrations.h"

namespace unwrite::cli {

enum class PieceAction {
    kSame,     ///< nothing is to be done
    kCreate,   ///< a new file
    kChange,   ///< something is put into a file
    kRestore,  ///< the file becomes what it was before
    kTakeOut,  ///< our entry goes, what was changed since stays
    kRemove,   ///< the file goes
    kLeave,    ///< changed since, so it stays
};

struct PlannedPiece {
    PieceAction action = PieceAction::kSame;
    FileChange file{};
};
using InstallPlan = std::vector<PlannedPiece>;

/// Errors: kUsage and kConflict for a file that cannot be added to, with what to add as the advice;
/// those of FileSet::look().
Result<InstallPlan> plan_install(FileSet& files, const Integration& integration);
/// Also where nothing is remembered: then entries that are as we write them go.
Result<InstallPlan> plan_removal(FileSet& files, const Integration& integration);

/// Carries out what plan_install() gave, all or nothing, and remembers what was before.
Result<> install(FileSet& files, const Integration& integration, const InstallPlan& plan);
/// Carries out what plan_removal() gave, and forgets.
Result<> remove_install(FileSet& files, const Integration& integration, const InstallPlan& plan);

}  // namespace unwrite::cli
