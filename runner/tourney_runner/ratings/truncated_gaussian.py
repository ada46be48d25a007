"""Messages of a comparison about the difference of two performances.

A difference with a normal belief N(t, 1) turned out to be above a margin (a win) or within it (a
tie). The resulting belief is matched by a normal one. The *added* information of the comparison is
a normal message with a mean and a variance, which these functions return.

The textbook form (the functions v and w of TrueSkill) divides 0 by 0 far out in the tails and loses
digits long before. Each region has its own form here, so that any finite t gives a message with a
positive variance: no function can raise, and beliefs never widen.
"""

from __future__ import annotations

from math import erfc, exp, inf, pi, sqrt
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["FARTHEST", "FRACTION", "TAIL", "messages", "tie_message", "win_message"]


_ROOT_HALF = sqrt(0.5)
_ROOT_TWO_OVER_PI = sqrt(2 / pi)
_HALF_ROOT = _ROOT_TWO_OVER_PI / 2
TAIL = 8.0
"""Distance beyond which the continued fraction is used. There the direct form has lost four digits
and the fraction is exact.
"""
_NEAR, _THIN = 3.0, 4e-4
"""Within these bounds a tie takes the textbook form, although quadrature is more exact. Its
rounding errors are harmless here, but they determine how long the package ``trueskill`` continues
its sweeps over a tie; an exact form would stop earlier and differ in the seventh digit.
"""
FRACTION = range(30, 1, -1)
"""Levels of the continued fraction; at `TAIL` the remainder is below 1e-16 of the value."""
FARTHEST = 1e100
"""Greatest distance used: squares of larger ones would overflow, and the result is the same."""

# Nodes and weights of the ten-point Gauss-Legendre rule on [-1, 1], positive half.
_NODES = (
    (0.1488743389816312, 0.2955242247147529),
    (0.4333953941292472, 0.2692667193099963),
    (0.6794095682990244, 0.2190863625159820),
    (0.8650633666889845, 0.1494513491505806),
    (0.9739065285171717, 0.0666713443086881),
)


def win_message(mean: float, margin: float) -> tuple[float, float]:
    """Return the message of a difference N(mean, 1) that is above the margin.

    Returns:
        Mean and variance of the message; the variance is infinite if the outcome was so certain
        that it carries no information.
    """
    distance = mean - margin
    if distance < -TAIL:
        height = min(-distance, FARTHEST)
        rest = _fraction(height)
        excess = 1 / (height + rest)
        return margin + rest, (rest - excess) / (height + excess)
    v = _ROOT_TWO_OVER_PI * exp(-0.5 * distance * distance) / erfc(-distance * _ROOT_HALF)
    excess = v + distance
    w = v * excess
    if w < 1e-300:
        return mean, inf
    return mean + 1 / excess, (1 - w) / w


def tie_message(mean: float, margin: float) -> tuple[float, float]:
    """Return the message of a difference N(mean, 1) that is within ±margin.

    Returns:
        Mean and variance of the message.
    """
    size = abs(mean)
    in_reach = size < _NEAR and margin > _THIN
    if not in_reach and margin <= 1 and margin * size <= 1:
        return _as_message(mean, *_thin(mean, margin))
    if size - margin > TAIL:
        message, variance = _as_message(size, *_far(size, margin))
    else:
        message, variance = _near(size, margin)
    return (message if mean > 0 else -message), variance


def _as_message(mean: float, middle: float, variance: float) -> tuple[float, float]:
    """Return the message that turns N(mean, 1) into N(middle, variance)."""
    return (middle - mean * variance) / (1 - variance), variance / (1 - variance)


def _thin(mean: float, margin: float) -> tuple[float, float]:
    """Return mean and variance within a thin strip, by quadrature, which avoids cancellation."""
    mass = first = 0.0
    points = []
    for node, weight in _NODES:
        for place in (-margin * node, margin * node):
            density = weight * exp(place * (mean - 0.5 * place))
            points.append((place, density))
            mass += density
            first += place * density
    middle = first / mass
    second = sum((place - middle) ** 2 * density for place, density in points)
    return middle, second / mass


def _near(size: float, margin: float) -> tuple[float, float]:
    """Return the message of a strip below the mean in the textbook form."""
    high, low = margin - size, -margin - size
    mass = 0.5 * (erfc(-high * _ROOT_HALF) - erfc(-low * _ROOT_HALF))
    high_density = _HALF_ROOT * exp(-0.5 * high * high)
    low_density = _HALF_ROOT * exp(-0.5 * low * low)
    v = (low_density - high_density) / mass
    w = v * v + (high * high_density - low * low_density) / mass
    if w < 1e-300:
        return size, inf
    return size + v / w, (1 - w) / w


def _far(size: float, margin: float) -> tuple[float, float]:
    """Return mean and variance of a strip far below, an exponential that decays from its edge.

    Distances z from the edge have a density ~ exp(-near z - z²/2) up to 2 margin; each moment is
    that of the whole tail minus that of the part beyond the strip.
    """
    near, width = min(size - margin, FARTHEST), 2 * margin
    mass, first, second = _tail_moments(near)
    beyond_mass, beyond_first, beyond_second = _tail_moments(near + width)
    share = exp(-width * (near + margin))
    mass -= share * beyond_mass
    first -= share * (width * beyond_mass + beyond_first)
    second -= share * (width * (width * beyond_mass + 2 * beyond_first) + beyond_second)
    depth = first / mass
    return margin - depth, second / mass - depth * depth


def _tail_moments(height: float) -> tuple[float, float, float]:
    """Return the integrals of z^j exp(-height z - z²/2) over z > 0, j = 0, 1, 2."""
    rest = _fraction(height)
    excess = 1 / (height + rest)
    mass = 1 / (height + excess)
    variance = (rest - excess) / (height + rest)
    return mass, mass * excess, mass * (variance + excess * excess)


def _fraction(height: float) -> float:
    """Return 2 / (height + 3 / (height + 4 / ...)), the core of Mills' ratio far out."""
    rest = 0.0
    for level in FRACTION:
        rest = level / (height + rest)
    return rest


# NumPy has no erfc; calling C's through Python takes 0.1 µs an element, which is enough here.
_erfc = np.frompyfunc(erfc, 1, 1)


def messages(means: Floats, margins: Floats, ties: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Return means and variances of the messages of differences N(mean, 1).

    Args:
        means: The expected differences.
        margins: The draw margins.
        ties: True for differences within the margin, false for those above it.
    """
    message, variance = _wins(means, margins)
    for index in np.flatnonzero(ties):
        message[index], variance[index] = tie_message(float(means[index]), float(margins[index]))
    return message, variance


def _wins(means: Floats, margins: Floats) -> tuple[Floats, Floats]:
    distances = means - margins
    far = distances < -TAIL
    distances[far] = 0.0
    v = sqrt(2 / pi) * np.exp(-0.5 * distances * distances)
    v /= np.asarray(_erfc(distances * -sqrt(0.5)), dtype=np.float64)
    excess = v + distances
    w = v * excess
    silent = w < 1e-300
    w[silent], excess[silent] = 1.0, 1.0
    message, variance = means + 1 / excess, (1 - w) / w
    variance[silent] = np.inf
    if far.any():
        height = np.minimum(margins[far] - means[far], FARTHEST)
        rest = np.zeros_like(height)
        for level in FRACTION:
            rest = level / (height + rest)
        excess = 1 / (height + rest)
        message[far] = margins[far] + rest
        variance[far] = (rest - excess) / (height + excess)
    return message, variance
