"""Values with their intervals on a scale, as inline SVG: cards, the index and comparisons draw them alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from markupsafe import Markup, escape


def scale(low: float, high: float, left: float, right: float) -> Callable[[float], float]:
    """A function from a value to its position in pixels: *low* is at *left*, *high* at *right*.

    >>> scale(0.0, 1.0, 10, 110)(0.25)
    35.0
    """
    return lambda value: left + (value - low) / (high - low) * (right - left)


def bar(x: float, top: float, bottom: float, kind: str) -> Markup:
    """An upright line in SVG. kind: its CSS class."""
    return Markup('<line class="{}" x1="{:.1f}" x2="{:.1f}" y1="{}" y2="{}"/>').format(kind, x, x, top, bottom)


def point(
    at: Callable[[float], float], y: float, ends: tuple[float | None, float, float | None], *,
    radius: float = 4, title: str = "", colour: str = "", full: bool = True,
) -> Markup:  # fmt: skip
    """A value as an SVG dot on its interval. ends: (low, value, high), None or NaN: no interval. at: from `scale`.

    >>> point(scale(0, 1, 0, 100), 9, (None, 0.5, None), radius=3)
    Markup('<circle class="value" cx="50.0" cy="9" r="3"></circle>')
    """
    low, value, high = ends
    drawn = Markup()
    stroke = Markup(' stroke="{}" stroke-width="2"').format(colour) if colour else ""
    if low is not None and high is not None and low == low:
        drawn = Markup('<line class="interval" x1="{:.1f}" x2="{:.1f}" y1="{}" y2="{}"{}/>').format(
            at(low), at(high), y, y, stroke
        )
    filled = Markup(' fill="{}"').format(colour if full else "#fff") if colour else ""
    titled = Markup("<title>{}</title>").format(title) if title else ""
    return drawn + Markup('<circle class="value" cx="{:.1f}" cy="{}" r="{}"{}{}>{}</circle>').format(
        at(value), y, radius, stroke, filled, titled
    )


def svg(parts: Sequence[Markup], width: float, height: float, label: str, kind: str, *, role: str = "img",
        fixed: bool = True) -> Markup:  # fmt: skip
    """The SVG picture of *parts*. label: for screen readers; kind: its CSS class; fixed: whether it keeps its size."""
    size = Markup(' width="{}" height="{}"').format(width, height) if fixed else ""
    return Markup('<svg class="{}" viewBox="0 0 {} {}"{} role="{}" aria-label="{}">{}</svg>').format(
        kind, width, height, size, role, escape(label), Markup().join(parts)
    )
