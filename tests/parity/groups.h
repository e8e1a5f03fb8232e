// The table of cells, by theme. Each function writes its part; groups.cpp lists them.
#pragma once

#include "tests/parity/cell.h"

namespace unwrite::tests::parity {

const std::vector<Group>& groups();

Group opening();           // open with every flag, on every kind of object
Group creating();          // O_CREAT, O_TMPFILE, umask, default modes
Group making();            // mkdir, mknod, symlink, link
Group removing();          // unlink, rmdir
Group renaming();          // rename, renameat2
Group paths();             // long, odd and special names
Group object_rights();     // who may do what to an object
Group directory_rights();  // who may do what in a directory
Group attributes();        // chmod, chown, utimensat
Group privileges();        // set-id bits and capabilities that a change clears
Group reading_writing();   // read, write and their kin
Group sizes();             // truncate, fallocate, seek, copies between files
Group xattrs();            // extended attributes
Group acls();              // POSIX ACLs
Group locks();             // flock, fcntl locks, OFD locks
Group objects();           // identity: inode numbers, link counts, handles, statfs
Group listing();           // readdir and friends

}  // namespace unwrite::tests::parity
