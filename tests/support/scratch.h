// The scratch directory of all tests, and the helpers for Results, under the name that tests of
// several layers use.
#pragma once

#include "tests/base/scratch.h"
