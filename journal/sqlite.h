// The thin layer over SQLite's C interface: a connection through our own VFS, statements, errors.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace unwrite::journal {

/// One prepared statement, used again and again. `step` says whether there is a row.
class Statement {
 public:
    Statement() = default;
    Result<> prepare(sqlite3* database, const char* sql);

    /// Binds the values in order, after taking the statement back to its beginning. Numbers must be
    /// below 2^63; text is stored as bytes.
    template <class... Values>
    Result<> bind(const Values&... values) {
        rewind();
        int at = 0;
        Result<> done;
        static_cast<void>(((done = bind_one(++at, values)).ok() && ...));
        return done;
    }
    Result<bool> step();
    /// bind() and step() of a statement without rows.
    template <class... Values>
    Result<> run(const Values&... values) {
        TRY(bind(values...));
        const auto row = step();
        rewind();
        if (!row) return row.error();
        return {};
    }
    std::int64_t number(int column) const;
    std::string text(int column) const;
    /// Ends the reading (an unfinished SELECT keeps the snapshot).
    void rewind();

 private:
    Result<> bind_one(int at, std::int64_t value);
    Result<> bind_one(int at, std::uint64_t value);
    Result<> bind_one(int at, std::uint32_t value) { return bind_one(at, std::uint64_t{value}); }
    Result<> bind_one(int at, bool value) { return bind_one(at, std::int64_t{value ? 1 : 0}); }
    Result<> bind_one(int at, const std::string& value);

    struct Finalize {
        void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
    };
    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class Database {
 public:
    /// Opens or makes the file `name` in the directory `dir`, which must stay open.
    static Result<Database> open(int dir, const std::string& name);
    Result<> execute(const char* sql);
    /// The first column of the first row, as a number or as text.
    Result<std::int64_t> query_number(const char* sql);
    Result<std::string> query_text(const char* sql);
    /// Rows that the last statement changed.
    int changes() const { return sqlite3_changes(database_.get()); }
    sqlite3* get() const { return database_.get(); }

 private:
    struct Close {
        void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
    };
    std::unique_ptr<sqlite3, Close> database_;
};

/// The failure that the connection reported last.
Error database_error(sqlite3* database, std::string_view action);

}  // namespace unwrite::journal
