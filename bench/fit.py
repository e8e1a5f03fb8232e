"""How a time grows: the slope of its logarithm, and what that is called."""

import math

# Up to here a slope is called so. The noise of a machine is worth about a tenth over two decades.
FLAT, LINEAR = 0.2, 1.2
# What costs the same at every size hides the growth where it is small: only the sizes from a hundredth of the largest
# on are looked at.
SPAN = 100


def slope(points):
    """Least squares through the logarithms of (size, value): 0 is flat, 1 linear. None of fewer than two points."""
    logs = [(math.log(size), math.log(value)) for size, value in points if size > 0 and value > 0]
    if len({x for x, _ in logs}) < 2:
        return None
    mean_x = sum(x for x, _ in logs) / len(logs)
    mean_y = sum(y for _, y in logs) / len(logs)
    return (sum((x - mean_x) * (y - mean_y) for x, y in logs) /
            sum((x - mean_x) ** 2 for x, _ in logs))


def growth(points):
    """(slope of the largest sizes, "flat" | "linear" | "worse"); (None, "") when it cannot be told."""
    largest = max((size for size, _ in points), default=0)
    found = slope([(size, value) for size, value in points if size * SPAN >= largest])
    if found is None:
        return None, ""
    return found, "flat" if found <= FLAT else "linear" if found <= LINEAR else "worse"


def as_designed(found, design):
    """Whether what grows as `found` keeps the promise of `design`; both are names of growth()."""
    order = ("flat", "linear", "worse")
    return order.index(found) <= order.index(design)
