// The tables of journal.db, and the statements over them.
#include <algorithm>
#include <cerrno>

#include "base/crash_point.h"
#include "journal/store_state.h"

namespace unwrite::journal {

namespace {

constexpr std::int64_t kVersion = 3;

constexpr const char* kCreate = R"sql(
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS head(
    id INTEGER PRIMARY KEY CHECK (id = 1),
    root INTEGER NOT NULL, current INTEGER NOT NULL, open_delta INTEGER NOT NULL,
    redo_tip INTEGER NOT NULL, mode BLOB NOT NULL,
    next_node INTEGER NOT NULL, next_delta INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS nodes(
    number INTEGER PRIMARY KEY, parent INTEGER NOT NULL, kind INTEGER NOT NULL,
    name BLOB NOT NULL, text BLOB NOT NULL, time_ns INTEGER NOT NULL, origin INTEGER NOT NULL,
    delta INTEGER NOT NULL, down INTEGER NOT NULL, open INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS tags(
    node INTEGER NOT NULL, key BLOB NOT NULL, value BLOB NOT NULL,
    PRIMARY KEY (node, key)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pending(
    id INTEGER PRIMARY KEY CHECK (id = 1),
    verb INTEGER NOT NULL, target INTEGER NOT NULL, edge INTEGER NOT NULL,
    inverse INTEGER NOT NULL, applying INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS origins(
    number INTEGER PRIMARY KEY AUTOINCREMENT, uid INTEGER NOT NULL, pid INTEGER NOT NULL,
    executable BLOB NOT NULL, session BLOB NOT NULL, step INTEGER NOT NULL,
    agent INTEGER NOT NULL, time_ns INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS seals(
    delta INTEGER NOT NULL, log_size INTEGER NOT NULL, log_crc INTEGER NOT NULL,
    data_size INTEGER NOT NULL, checksum INTEGER NOT NULL,
    PRIMARY KEY (delta, log_size, log_crc)) WITHOUT ROWID;
INSERT OR IGNORE INTO head VALUES(1, 1, 1, 1, 0, x'', 2, 2);
INSERT OR IGNORE INTO nodes VALUES(
    1, 0, 0, x'', x'', CAST(strftime('%s', 'now') AS INTEGER) * 1000000000, 0, 0, 0, 1);
PRAGMA user_version = 3;
COMMIT;
)sql";

// In version 1 the node of a run (kind 3), and that of an edit, was made when it began: what led to
// the node was done before. That is what such a node says from now on; a run's own node is made at
// its end.
constexpr const char* kFromVersion1 = R"sql(
BEGIN IMMEDIATE;
UPDATE nodes SET text = CAST('before ' || text AS BLOB)
    WHERE kind = 2 AND instr(text, CAST(' {"begun":' AS BLOB)) > 0;
UPDATE nodes SET kind = 2, text = CAST('before ' || text AS BLOB) WHERE kind = 3;
PRAGMA user_version = 2;
COMMIT;
)sql";

// Version 2 had no seals. The version stays until they are filled in (Store::begin_seals).
constexpr const char* kFromVersion2 = R"sql(
CREATE TABLE IF NOT EXISTS seals(
    delta INTEGER NOT NULL, log_size INTEGER NOT NULL, log_crc INTEGER NOT NULL,
    data_size INTEGER NOT NULL, checksum INTEGER NOT NULL,
    PRIMARY KEY (delta, log_size, log_crc)) WITHOUT ROWID;
)sql";

Error not_the_journal() {
    return Error(ErrorKind::kCorrupt, EIO,
                 "cannot open journal.db: it is not a journal's database");
}

Result<> create(Database& database) {
    TRY_ASSIGN(const std::int64_t tables,
               database.query_number("SELECT count(*) FROM sqlite_master"));
    if (tables != 0) return not_the_journal();
    crash_point("store.create.before");
    const auto created = database.execute(kCreate);
    if (!created) ignore(database.execute("ROLLBACK"), "the first failure is the one to report");
    crash_point("store.create.after");
    return created;
}

Result<> migrate(Database& database) {
    crash_point("store.migrate.before");
    const auto migrated = database.execute(kFromVersion1);
    if (!migrated) ignore(database.execute("ROLLBACK"), "the first failure is the one to report");
    crash_point("store.migrate.after");
    return migrated;
}

}  // namespace

Result<std::int64_t> prepare_schema(Database& database, bool durable, bool may_create) {
    // One writer at a time is the lock's business, so waiting for a lock would only hide a mistake.
    TRY(database.execute("PRAGMA locking_mode = NORMAL"));
    TRY_ASSIGN(const std::int64_t version, database.query_number("PRAGMA user_version"));
    if (version > kVersion) {
        return Error(ErrorKind::kRecovery, EIO,
                     "cannot open journal.db: its format is version " + std::to_string(version) +
                         ", this program knows version " + std::to_string(kVersion),
                     "use the newer program");
    }
    if (version < 0 || (version == 0 && !may_create)) return not_the_journal();
    // Where a filesystem has no shared memory SQLite stays with its rollback journal, which is as
    // safe.
    TRY(database.query_text("PRAGMA journal_mode = WAL"));
    TRY(database.execute(durable ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL"));
    TRY(database.execute("PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY"));
    if (version == 0) TRY(create(database));
    if (version == 0) return kVersion;
    if (version == 1) TRY(migrate(database));
    if (version <= 2) TRY(database.execute(kFromVersion2));
    return std::max<std::int64_t>(version, 2);
}

Result<> Store::State::prepare() {
    struct Entry {
        Statement* statement;
        const char* sql;
    };
    const Entry entries[] = {
        {&begin, "BEGIN IMMEDIATE"},
        {&commit, "COMMIT"},
        {&select_head,
         "SELECT root, current, open_delta, redo_tip, mode, next_node, next_delta FROM head"},
        {&update_head,
         "UPDATE head SET root = ?, current = ?, open_delta = ?, redo_tip = ?, mode = ?,"
         " next_node = ?, next_delta = ?"},
        {&select_nodes,
         "SELECT number, parent, kind, name, text, time_ns, origin, delta, down, open FROM nodes"
         " ORDER BY number"},
        {&select_node,
         "SELECT number, parent, kind, name, text, time_ns, origin, delta, down, open FROM nodes"
         " WHERE number = ?"},
        {&insert_node, "INSERT INTO nodes VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"},
        {&update_node,
         "UPDATE nodes SET parent = ?, kind = ?, name = ?, text = ?, time_ns = ?, origin = ?,"
         " delta = ?, down = ?, open = ? WHERE number = ?"},
        {&delete_node, "DELETE FROM nodes WHERE number = ?"},
        {&delete_nodes, "DELETE FROM nodes"},
        {&select_tags, "SELECT key, value FROM tags WHERE node = ?"},
        {&select_all_tags, "SELECT node, key, value FROM tags"},
        {&insert_tag, "INSERT INTO tags VALUES(?, ?, ?)"},
        {&delete_tags, "DELETE FROM tags WHERE node = ?"},
        {&delete_all_tags, "DELETE FROM tags"},
        {&select_pending, "SELECT verb, target, edge, inverse, applying FROM pending"},
        {&insert_pending, "INSERT INTO pending VALUES(1, ?, ?, ?, ?, ?)"},
        {&delete_pending, "DELETE FROM pending"},
        {&select_origins,
         "SELECT number, uid, pid, executable, session, step, agent, time_ns FROM origins"
         " ORDER BY number"},
        {&insert_origin,
         "INSERT INTO origins(uid, pid, executable, session, step, agent, time_ns)"
         " VALUES(?, ?, ?, ?, ?, ?, ?)"},
        {&select_seals, "SELECT delta, log_size, log_crc, data_size, checksum FROM seals"},
        {&insert_seal, "INSERT OR REPLACE INTO seals VALUES(?, ?, ?, ?, ?)"},
        {&delete_seals, "DELETE FROM seals WHERE delta = ?"},
        {&select_edge, "SELECT delta FROM nodes WHERE number = ?"},
    };
    for (const Entry& entry : entries)
        TRY(entry.statement->prepare(database.get(), entry.sql));
    return {};
}

}  // namespace unwrite::journal
