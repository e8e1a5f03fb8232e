"""Two kinds of charts, on logarithmic scales: dots in rows, and curves. Plain SVG text, the same for the same numbers."""

import math
from html import escape

# Colours that colour-blind people can tell apart (Okabe and Ito).
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#555555", "#882255", "#8b6914")
PAPER, INK, GRID, FAINT = "#ffffff", "#222222", "#e0e0e0", "#777777"
TEXT = 12


class Drawing:
    def __init__(self, width, height, title):
        self.width, self.height = width, height
        self.parts = [f"<title>{escape(title)}</title>", rect(0, 0, width, height, PAPER),
                      text(12, 22, title, size=15)]

    def add(self, *parts):
        self.parts += parts

    def __str__(self):
        body = "\n".join(self.parts)
        return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" '
                f'viewBox="0 0 {self.width} {self.height}" font-family="sans-serif">\n{body}\n</svg>\n')


def number(value):
    return f"{value:.1f}".removesuffix(".0")


def rect(x, y, width, height, fill):
    return f'<rect x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}" fill="{fill}"/>'


def line(x1, y1, x2, y2, stroke=GRID, width=1):
    return (f'<line x1="{number(x1)}" y1="{number(y1)}" x2="{number(x2)}" y2="{number(y2)}" '
            f'stroke="{stroke}" stroke-width="{width}"/>')


def dot(x, y, fill, note):
    return f'<circle cx="{number(x)}" cy="{number(y)}" r="4" fill="{fill}"><title>{escape(note)}</title></circle>'


def text(x, y, words, size=TEXT, anchor="start", fill=INK):
    return (f'<text x="{number(x)}" y="{number(y)}" font-size="{size}" text-anchor="{anchor}" '
            f'fill="{fill}">{escape(words)}</text>')


def polyline(points, stroke):
    path = " ".join(f"{number(x)},{number(y)}" for x, y in points)
    return f'<polyline points="{path}" fill="none" stroke="{stroke}" stroke-width="2"/>'


def decades(values):
    """(lowest, highest) power of ten around the values; at least one decade."""
    low = math.floor(math.log10(min(values)) + 1e-9)
    high = math.ceil(math.log10(max(values)) - 1e-9)
    return low, max(high, low + 1)


class Scale:
    """Logarithmic, from the decades of the values to pixels."""

    def __init__(self, values, begin, end):
        self.low, self.high = decades(values)
        self.begin, self.end = begin, end

    def __call__(self, value):
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.begin + share * (self.end - self.begin)

    def ticks(self):
        return [10.0 ** power for power in range(self.low, self.high + 1)]


def legend(drawing, names, x, y):
    for name, colour in names:
        drawing.add(dot(x, y - 4, colour, name), text(x + 9, y, name))
        x += 24 + 7 * len(name)


def colours(series):
    return {name: COLOURS[index % len(COLOURS)] for index, name in enumerate(series)}


def dots(title, rows, series, show, targets=()):
    """A row for each (label, {series: value}); `targets`, {label: [value, ...]}, are upright strokes."""
    targets = dict(targets)
    left, top, step = 190, 66, 20
    bottom = top + step * len(rows)
    drawing = Drawing(860, bottom + 40, title)
    values = [value for _, found in rows for value in found.values()] + [1.0]
    scale = Scale(values, left, 840)
    of = colours(series)
    legend(drawing, of.items(), left, 44)
    for tick in scale.ticks():
        drawing.add(line(scale(tick), top - 8, scale(tick), bottom), text(scale(tick), bottom + 18, show(tick), anchor="middle", fill=FAINT))
    drawing.add(line(scale(1), top - 8, scale(1), bottom, INK))
    for index, (label, found) in enumerate(rows):
        y = top + step * index + step / 2
        drawing.add(text(left - 8, y + 4, label, anchor="end"), line(left, y, 840, y))
        for value in targets.get(label, []):
            drawing.add(line(scale(value), y - 8, scale(value), y + 8, "#cc0000", 2))
        drawing.add(*(dot(scale(found[name]), y, of[name], f"{label}, {name}: {show(found[name])}")
                      for name in series if name in found))
    return str(drawing)


def curves(title, x_label, lines, show):
    """A curve for each {name: [(x, y), ...]}."""
    left, right, top, bottom = 80, 600, 50, 390
    drawing = Drawing(860, 450, title)
    points = [point for found in lines.values() for point in found]
    across = Scale([x for x, _ in points], left, right)
    up = Scale([y for _, y in points], bottom, top)
    for tick in across.ticks():
        drawing.add(line(across(tick), top, across(tick), bottom),
                    text(across(tick), bottom + 18, f"{tick:,.0f}", anchor="middle", fill=FAINT))
    for tick in up.ticks():
        drawing.add(line(left, up(tick), right, up(tick)), text(left - 8, up(tick) + 4, show(tick), anchor="end", fill=FAINT))
    drawing.add(text((left + right) / 2, bottom + 42, x_label, anchor="middle"))
    for index, (name, colour) in enumerate(colours(lines).items()):
        at = [(across(x), up(y)) for x, y in lines[name]]
        drawing.add(polyline(at, colour), dot(right + 24, top + 20 * index - 4, colour, name),
                    text(right + 34, top + 20 * index, name))
        drawing.add(*(dot(*place, colour, f"{name}, {x:,}: {show(y)}") for place, (x, y) in zip(at, lines[name])))
    return str(drawing)
