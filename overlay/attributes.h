// Attributes of an open object: read into an image, and made equal to one.
#pragma once

#include "overlay/operations.h"

namespace unwrite::overlay {

/// The attributes of an open object (any descriptor), as an image.
Result<journal::Attributes> read_attributes(int fd);
/// Makes the attributes of an open object (any descriptor) equal to `wanted`; times only with
/// `times`.
Result<> write_attributes(int fd, const journal::Attributes& wanted, bool times);

/// Which of them differ (Aspect), times apart.
std::uint32_t different_aspects(const journal::Attributes& one, const journal::Attributes& other);

/// Makes the empty file `to` a copy of the file `from`: content with its holes, and attributes.
Result<> copy_file(int from, int to);

}  // namespace unwrite::overlay
