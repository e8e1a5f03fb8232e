// libfuse's low-level interface, with the version that this code is written for where the build
// names none.
#pragma once

#ifndef FUSE_USE_VERSION
#define FUSE_USE_VERSION 314
#endif

#include <fuse_lowlevel.h>
