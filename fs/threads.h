// Starting the threads of this folder: named, and with all signals blocked, so that signals reach
// the caller's own.
#pragma once

#include <functional>
#include <thread>

#include "base/result.h"

namespace unwrite::fs {

Result<std::thread> start_thread(const char* name, std::function<void()> body);

}  // namespace unwrite::fs
