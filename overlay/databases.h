// Databases: several files that are worth something only together.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace unwrite::overlay {

/// How names of databases end, in either case.
inline constexpr std::array kDatabaseEndings{".db", ".sqlite", ".sqlite3"};
/// What the files beside a database add to its name; "" is the database.
inline constexpr std::array kDatabaseParts{"", "-wal", "-shm", "-journal"};

/// The database that the file is, or is a part of; nothing for other files.
std::optional<std::string> database_of(const std::string& path);

/// The paths, and after them the other files of each database among them, whether these are there
/// or not. Each once.
std::vector<std::string> with_whole_databases(const std::vector<std::string>& paths);

}  // namespace unwrite::overlay
