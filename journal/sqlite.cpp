#include "journal/sqlite.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <limits>

#include "base/syscalls.h"
#include "journal/store.h"

namespace unwrite::journal {

namespace {

thread_local std::uint64_t rows = 0;

constexpr const char* kVfs = "unwrite";

/// SQLite resolves symlinks in the path of a database. "/proc/thread-self/fd/N" would become the
/// path of the workspace, which after mounting leads into the mount; so the string is taken as it
/// is.
int full_pathname(sqlite3_vfs* /*vfs*/, const char* name, int size, char* out) {
    const std::size_t length = std::strlen(name);
    if (size < 0 || length >= static_cast<std::size_t>(size)) return SQLITE_CANTOPEN;
    std::memcpy(out, name, length + 1);
    return SQLITE_OK;
}

// One process has the database at a time, and maps no file: who cut journal.db-shm short would end
// it with SIGBUS (docs/decisions/0088).
constexpr const char* kSystemVfs = "unix-excl";

/// The system's looks at its own name to know that.
int open_exclusively(sqlite3_vfs* /*vfs*/, const char* name, sqlite3_file* file, int flags,
                     int* flags_out) {
    sqlite3_vfs* const system = sqlite3_vfs_find(kSystemVfs);
    return system->xOpen(system, name, file, flags, flags_out);
}

int register_vfs() {
    const sqlite3_vfs* system = sqlite3_vfs_find(kSystemVfs);
    if (system == nullptr) return SQLITE_ERROR;
    static sqlite3_vfs ours = *system;  // everything else is the system's
    ours.zName = kVfs;
    ours.pNext = nullptr;
    ours.xFullPathname = full_pathname;
    ours.xOpen = open_exclusively;
    return sqlite3_vfs_register(&ours, 0);
}

int number_of(sqlite3* database, int code) {
    switch (code) {
        case SQLITE_FULL:
            return ENOSPC;
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            return EBUSY;
        case SQLITE_NOMEM:
            return ENOMEM;
        case SQLITE_READONLY:
            return EROFS;
        case SQLITE_TOOBIG:
            return E2BIG;
        case SQLITE_IOERR:
        case SQLITE_CANTOPEN: {
            const int system = sqlite3_system_errno(database);
            return system != 0 ? system : EIO;
        }
        default:
            return EIO;
    }
}

}  // namespace

Error database_error(sqlite3* database, std::string_view action) {
    const int code = sqlite3_errcode(database) & 0xFF;
    const bool damaged = code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_ERROR ||
                         code == SQLITE_CONSTRAINT || code == SQLITE_MISMATCH;
    return Error(damaged ? ErrorKind::kCorrupt : ErrorKind::kSystem, number_of(database, code),
                 std::string(action) + ": " + sqlite3_errmsg(database));
}

Result<> Statement::prepare(sqlite3* database, const char* sql) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr) !=
        SQLITE_OK) {
        return database_error(database, "read journal.db");
    }
    statement_.reset(statement);
    return {};
}

void Statement::rewind() {
    // The code repeats the failure that step() reported already.
    static_cast<void>(sqlite3_reset(statement_.get()));
}

Result<> Statement::bind_one(int at, std::int64_t value) {
    if (sqlite3_bind_int64(statement_.get(), at, value) == SQLITE_OK) return {};
    return database_error(sqlite3_db_handle(statement_.get()), "bind a number");
}

Result<> Statement::bind_one(int at, std::uint64_t value) {
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
        return Error(EOVERFLOW);
    }
    return bind_one(at, static_cast<std::int64_t>(value));
}

Result<> Statement::bind_one(int at, const std::string& value) {
    // Not TRANSIENT: the value outlives the step, and is bound anew before the next.
    if (sqlite3_bind_blob64(statement_.get(), at, value.data(), value.size(), nullptr) ==
        SQLITE_OK) {
        return {};
    }
    return database_error(sqlite3_db_handle(statement_.get()), "bind bytes");
}

std::uint64_t rows_read() {
    return rows;
}

Result<bool> Statement::step() {
    switch (sqlite3_step(statement_.get())) {
        case SQLITE_ROW:
            ++rows;
            return true;
        case SQLITE_DONE:
            return false;
        default:
            return database_error(sqlite3_db_handle(statement_.get()), "use journal.db");
    }
}

std::int64_t Statement::number(int column) const {
    return sqlite3_column_int64(statement_.get(), column);
}

std::string Statement::text(int column) const {
    const void* data = sqlite3_column_blob(statement_.get(), column);
    const int size = sqlite3_column_bytes(statement_.get(), column);
    if (data == nullptr || size <= 0) return {};
    return {static_cast<const char*>(data), static_cast<std::size_t>(size)};
}

Result<Database> Database::open(int dir, const std::string& name) {
    static const int registered = register_vfs();
    if (registered != SQLITE_OK)
        return Error(ErrorKind::kSystem, EIO, "cannot open journal.db: no VFS");
    // SQLite would give it the permissions of the umask; the files beside it take those of this
    // one.
    if (const auto made = sys::open_at(dir, name, O_RDWR | O_CREAT | O_EXCL, 0600);
        !made && made.error().number() != EEXIST) {
        return made.error().with_context("cannot make journal.db");
    }
    const std::string path = sys::fd_path(dir) + "/" + name;
    sqlite3* raw = nullptr;
    const int code = sqlite3_open_v2(
        path.c_str(), &raw,
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW,
        kVfs);
    Database database;
    database.database_.reset(raw);
    if (raw == nullptr) return Error(ENOMEM);
    if (code != SQLITE_OK) return database_error(raw, "open journal.db");
    // What is in the file is data, never code.
    sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(raw, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
    sqlite3_db_config(raw, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
    sqlite3_extended_result_codes(raw, 0);
    return database;
}

Result<> Database::execute(const char* sql) {
    if (sqlite3_exec(get(), sql, nullptr, nullptr, nullptr) == SQLITE_OK) return {};
    return database_error(get(), "use journal.db");
}

Result<std::int64_t> Database::query_number(const char* sql) {
    Statement statement;
    TRY(statement.prepare(get(), sql));
    TRY_ASSIGN(const bool row, statement.step());
    return row ? statement.number(0) : 0;
}

Result<std::string> Database::query_text(const char* sql) {
    Statement statement;
    TRY(statement.prepare(get(), sql));
    TRY_ASSIGN(const bool row, statement.step());
    return row ? statement.text(0) : std::string();
}

}  // namespace unwrite::journal
