"""Ratings that do not depend on the order of the deals, with their robust covariance.

The ratings come from expectation propagation over all deals at once. The message of each deal to
its players depends on the messages of all *other* deals about the table, and the messages are
updated until they converge. A single pass in order would give later deals more weight; several
passes would count each deal several times.

Three measures make it fast. Deals with the same outcome share a message and are computed once.
Within a sweep the outcomes are computed in a few blocks, as arrays, and each block uses the results
of the last one. Slowly converging quantities, the differences between distant parts of the field,
are extrapolated by Anderson's method. The mean of each connected part of the field, which would
converge most slowly, is known in advance: deals only carry information about differences, so it
stays that of the prior.
"""

from __future__ import annotations

from array import array
from math import floor, log10, pi
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tourney_runner.ratings.model import Rating, average_places
from tourney_runner.ratings.truncated_gaussian import messages

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from tourney_runner.ratings.model import Deal, Model

    Floats = NDArray[np.float64]

    Integers = NDArray[np.integer]

    Ints = NDArray[np.int64]

__all__ = ["Columns", "Evidence", "Extrapolation", "Fit", "GroupSums", "covariance", "fit"]


_BLOCKS = 4
"""Blocks of outcomes in a sweep. More blocks cost more than they save; fewer can oscillate where a
few bots play often.
"""
_MOST_IN_BLOCK = 16_384
"""Most outcomes in a block; limits the memory of a sweep."""
_SWEEPS = 500
_STILL = 1e-10
"""The fit has converged when no rating moves by more than this, in units of the prior's sigma."""
_DIGITS = 7
"""Digits of a rating that are kept, relative to the prior's sigma. The rest depends on where the
sweeps ended, and would order bots with equal results arbitrarily.
"""
_PATIENCE = 40
"""Sweeps after which steps are halved: two bots that only played each other can oscillate."""
_CERTAIN = 1e30
"""The variance of a message without information, in units of beta²."""
_HISTORY = 6
"""Sweeps that the extrapolation uses."""


class Evidence:
    """The messages of all outcomes of deals with the same number of players.

    Args:
        rows: One row a deal: the entrants in finishing order, the bitwise inverse (negative)
            where the player tied with the one before.
    """

    def __init__(self, rows: Integers) -> None:
        outcomes, self.outcome_of_deal, counts = np.unique(
            rows, axis=0, return_inverse=True, return_counts=True
        )
        self.players = rows.shape[1]
        self.entrants: Integers = np.where(outcomes < 0, ~outcomes, outcomes).T
        """[player in finishing order, outcome]."""
        self._ties = (outcomes[:, 1:] < 0).T
        self._counts = counts.astype(np.float64)
        self.precisions: Floats = np.zeros(self.entrants.shape)
        """The precision of the message of one deal of each outcome about each player's skill."""
        self.shifts: Floats = np.zeros(self.entrants.shape)
        """The precision times the mean of the same message."""
        # The messages that each performance received from its worse neighbour in the last sweep.
        self._worse = np.zeros(self.entrants.shape)
        self._worse_shift = np.zeros(self.entrants.shape)
        # The variance of the message of each comparison of neighbours in the last sweep.
        self._spreads = np.full((self.players - 1, self.entrants.shape[1]), np.inf)

    def add_to(self, precisions: Floats, shifts: Floats) -> None:
        """Add all messages to the entrants' beliefs."""
        self._add(slice(None), self.precisions, self.shifts, precisions, shifts)

    def sweep(self, model: Model, precisions: Floats, shifts: Floats, pace: float) -> None:
        """Update all outcomes, block by block, and keep the beliefs up to date.

        Args:
            model: The constants.
            precisions: The precisions of the beliefs, changed in place.
            shifts: The precisions times the means, changed in place.
            pace: The share of each change that is applied, up to 1.
        """
        outcomes = self.entrants.shape[1]
        blocks = max(min(_BLOCKS, outcomes), -(-outcomes // _MOST_IN_BLOCK))
        for first in range(blocks):
            self.update(slice(first, None, blocks), model, precisions, shifts, pace)

    def move(self, by: Floats) -> None:
        """Shift all messages about each entrant, as if its skill were higher by that amount."""
        moved = by[self.entrants]
        self.shifts += self.precisions * moved
        self._worse_shift += self._worse * moved

    def update(
        self, block: slice, model: Model, precisions: Floats, shifts: Floats, pace: float
    ) -> None:
        """Update some of the outcomes; see `sweep`."""
        entrants = self.entrants[:, block]
        said, said_shift = self.precisions[:, block], self.shifts[:, block]
        others = precisions[entrants] - said
        means = (shifts[entrants] - said_shift) / others
        noise = model.beta * model.beta
        heard, heard_shift = self._listen(block, means, 1 / others + noise, model.draw_margin)
        discount = 1 / (1 + noise * heard)
        change = pace * (discount * heard - said)
        change_shift = pace * (discount * heard_shift - said_shift)
        said += change
        said_shift += change_shift
        self._add(block, change, change_shift, precisions, shifts)

    def information(self, size: int, beta: float) -> Floats:
        """Return the information of all deals about the skills of `size` entrants, by pair.

        The messages make each comparison of neighbours a Gaussian. With D the differences of
        neighbours, S the diagonal of the messages' variances and beta² the noise of a performance,
        the information of a deal about the skills of its players is D' (S + beta² D D')⁻¹ D.
        """
        found = np.zeros(size * size)
        for first in range(0, self.entrants.shape[1], _MOST_IN_BLOCK):
            block = slice(first, first + _MOST_IN_BLOCK)
            players = self.entrants[:, block].T
            cells = players[:, :, np.newaxis] * size + players[:, np.newaxis, :]
            of_deals = self._counts[block, np.newaxis, np.newaxis] * self._informed(block, beta)
            found += np.bincount(cells.ravel(), of_deals.ravel(), size * size)
        result: Floats = found.reshape(size, size)
        return result

    def _informed(self, block: slice, beta: float) -> Floats:
        """Return the information of one deal of each outcome, [outcome, player, player]."""
        pairs = np.arange(self.players - 1)
        products = 2 * np.eye(len(pairs)) - np.eye(len(pairs), k=1) - np.eye(len(pairs), k=-1)
        variances = np.tile(beta * beta * products, (self._counts[block].size, 1, 1))
        # The variance is infinite where the outcome was certain.
        variances[:, pairs, pairs] += np.minimum(self._spreads[:, block].T, _CERTAIN * beta * beta)
        padded = np.pad(np.linalg.inv(variances), ((0, 0), (1, 1), (1, 1)))
        result: Floats = np.diff(np.diff(padded, axis=1), axis=2)
        return result

    def _add(
        self, block: slice, said: Floats, said_shift: Floats, precisions: Floats, shifts: Floats
    ) -> None:
        entrants = self.entrants[:, block].ravel()
        counts = self._counts[block]
        size = len(precisions)
        precisions += np.bincount(entrants, (said * counts).ravel(), size)
        shifts += np.bincount(entrants, (said_shift * counts).ravel(), size)

    def _listen(
        self, block: slice, means: Floats, variances: Floats, margin: float
    ) -> tuple[Floats, Floats]:
        """Pass messages down and up the chains of comparisons of neighbours.

        Args:
            block: The outcomes.
            means: The means of the performances, [player, outcome].
            variances: The variances of the performances, [player, outcome].
            margin: The draw margin.

        Returns:
            Precision and shift of the messages that each performance received from its neighbours.
        """
        ties = self._ties[:, block]
        worse, worse_shift = self._worse[:, block], self._worse_shift[:, block]
        better, better_shift = np.zeros_like(means), np.zeros_like(means)
        prior = 1 / variances
        prior_shift = means * prior
        pairs = self.players - 1
        for above, below in [(pair, pair + 1) for pair in range(pairs)]:
            mean, variance = _without(prior, prior_shift, better, better_shift, above)
            mean_below, variance_below = _without(prior, prior_shift, worse, worse_shift, below)
            difference, spread = _compare(
                mean - mean_below, variance + variance_below, margin, ties[above]
            )
            better[below] = 1 / (variance + spread)
            better_shift[below] = (mean - difference) * better[below]
        for above, below in [(pair, pair + 1) for pair in reversed(range(pairs))]:
            mean, variance = _without(prior, prior_shift, better, better_shift, above)
            mean_below, variance_below = _without(prior, prior_shift, worse, worse_shift, below)
            difference, spread = _compare(
                mean - mean_below, variance + variance_below, margin, ties[above]
            )
            self._spreads[above, block] = spread
            worse[above] = 1 / (variance_below + spread)
            worse_shift[above] = (mean_below + difference) * worse[above]
        return better + worse, better_shift + worse_shift


def _without(
    prior: Floats, prior_shift: Floats, heard: Floats, heard_shift: Floats, player: int
) -> tuple[Floats, Floats]:
    """Return mean and variance of a performance from the prior and one neighbour."""
    precision = prior[player] + heard[player]
    return (prior_shift[player] + heard_shift[player]) / precision, 1 / precision


def _compare(
    mean: Floats, variance: Floats, margin: float, ties: NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """Return mean and variance of the messages about differences N(mean, variance)."""
    scale = np.sqrt(variance)
    message, spread = messages(mean / scale, margin / scale, ties)
    return message * scale, spread * variance


class Fit:
    """The result of a fit.

    Args:
        model: The constants.
        beliefs: For each entrant, 1 / sigma² and mu / sigma².
        evidence: All messages, by the number of players.
        connected: For each entrant a number shared by all entrants connected with it by deals.
        converged: Whether the ratings had converged when the sweeps ended.
    """

    def __init__(
        self,
        model: Model,
        beliefs: tuple[Floats, Floats],
        evidence: list[Evidence],
        connected: Integers,
        *,
        converged: bool,
    ) -> None:
        self.model = model
        self.converged = converged
        precisions, shifts = beliefs
        self.mu: Floats = shifts / precisions
        self.sigma: Floats = 1 / np.sqrt(precisions)
        self.evidence = evidence
        self.connected = connected

    def ratings(self) -> list[Rating]:
        """Return the ratings by entrant; entrants with equal results have equal ratings."""
        digits = _DIGITS - floor(log10(self.model.sigma))
        rounded = (np.round(self.mu, digits).tolist(), np.round(self.sigma, digits).tolist())
        return [Rating(mu, sigma) for mu, sigma in zip(*rounded, strict=True)]


def fit(model: Model, entrants: int, rows: Mapping[int, Integers]) -> Fit:
    """Rate a field by all its deals at once.

    Args:
        model: The constants; `tau` is not used because deals have no order.
        entrants: The number of entrants.
        rows: By the number of players, one row a deal as `Evidence` takes them.
    """
    evidence = [Evidence(rows[players]) for players in sorted(rows) if len(rows[players])]
    groups = _connected(entrants, evidence)
    extrapolation = Extrapolation()
    precisions, shifts = _beliefs(model, entrants, evidence)
    converged = not evidence
    for number in range(_SWEEPS if evidence else 0):
        mu, sigma = shifts / precisions, 1 / np.sqrt(precisions)
        for table in evidence:
            table.sweep(model, precisions, shifts, 1.0 if number < _PATIENCE else 0.5)
        moved, new_sigma = shifts / precisions, 1 / np.sqrt(precisions)
        change = max(np.abs(moved - mu).max(), np.abs(new_sigma - sigma).max())
        if change <= _STILL * model.sigma:
            converged = True
            break
        ahead = _anchored(extrapolation.next(mu, moved), groups, model.mu)
        for table in evidence:
            table.move(ahead - moved)
        precisions, shifts = _beliefs(model, entrants, evidence)
    return Fit(model, (precisions, shifts), evidence, groups, converged=converged)


def _beliefs(model: Model, entrants: int, evidence: list[Evidence]) -> tuple[Floats, Floats]:
    """Return the sum of the prior and all messages, computed without accumulated rounding."""
    precisions = np.full(entrants, model.sigma**-2)
    shifts = precisions * model.mu
    for table in evidence:
        table.add_to(precisions, shifts)
    return precisions, shifts


def _connected(entrants: int, evidence: list[Evidence]) -> Integers:
    """Return for each entrant the lowest number of all entrants connected with it by deals."""
    lowest = np.arange(entrants)
    while True:
        before = lowest.copy()
        for table in evidence:
            at_table = lowest[table.entrants].min(axis=0)
            for player in table.entrants:
                np.minimum.at(lowest, player, at_table)
        if np.array_equal(before, lowest):
            return lowest


def _anchored(mu: Floats, groups: Integers, prior: float) -> Floats:
    """Return the means, shifted so that each connected group has the prior's mean."""
    sizes = np.bincount(groups, minlength=len(mu))
    sums = np.bincount(groups, mu, len(mu))
    return mu - (sums / np.maximum(sizes, 1))[groups] + prior


class Extrapolation:
    """Anderson's extrapolation of the fixed point of a repeated step x -> f(x)."""

    def __init__(self) -> None:
        self._points: list[Floats] = []
        self._steps: list[Floats] = []

    def next(self, point: Floats, image: Floats) -> Floats:
        """Return the next point, given that the step took `point` to `image`."""
        step = image - point
        self._points = [*self._points, point][-_HISTORY:]
        self._steps = [*self._steps, step][-_HISTORY:]
        if len(self._steps) < 3:
            return image
        steps, points = np.diff(self._steps, axis=0).T, np.diff(self._points, axis=0).T
        weights = np.linalg.lstsq(steps, step, rcond=1e-10)[0]
        ahead: Floats = image - (points + steps) @ weights
        return ahead


class GroupSums(NamedTuple):
    """Sums by group and entrant, one row for each entrant of each group, in the order of groups."""

    group: Ints
    entrant: Ints
    deals: Floats
    places: Floats
    """The sum of average places."""
    points: Floats


class Columns:
    """The results of all players of all deals, 32 bytes each, which are summed up at the end.

    Args:
        entrants: The number of entrants.
    """

    def __init__(self, entrants: int) -> None:
        self.entrants = entrants
        self.groups = 0
        # One value for each player of each deal:
        self._group = array("i")
        self._entrant = array("i")
        self._seat = array("i")
        self._place = array("d")
        """The average place of its tie."""
        self._points = array("d")
        self._sizes = array("i")
        """The number of players of each deal."""
        self._last_key: tuple[int, int] | None = None

    def add(self, deal: Deal) -> None:
        """Add a deal. The deals of a match must be consecutive, as in the schedule."""
        round_number, match, _ = deal.key
        if self._last_key != (round_number, match):
            self._last_key = round_number, match
            self.groups += 1
        players = len(deal.seating)
        self._sizes.append(players)
        self._group.extend((self.groups - 1,) * players)
        self._entrant.extend(deal.seating)
        self._seat.extend(range(players))
        self._place.extend(average_places(deal.places))
        self._points.extend(deal.points)

    def sums(self) -> GroupSums:
        """Return the sums by group and entrant."""
        entrant = _whole(self._entrant)
        keys, rows = np.unique(_whole(self._group) * self.entrants + entrant, return_inverse=True)
        return GroupSums(
            keys // self.entrants,
            keys % self.entrants,
            np.bincount(rows, minlength=len(keys)).astype(np.float64),
            np.bincount(rows, _real(self._place), len(keys)).astype(np.float64),
            np.bincount(rows, _real(self._points), len(keys)).astype(np.float64),
        )

    def seats(self) -> list[list[tuple[int, float, float]]]:
        """Return the deals, the sum of average places and the points of each entrant, by seat.

        Seats after the last one in which an entrant has sat are left out.
        """
        seat = _whole(self._seat)
        seats = int(seat.max(initial=-1)) + 1
        cell = _whole(self._entrant) * seats + seat
        size = self.entrants * seats
        shape = (self.entrants, seats)
        deals = np.bincount(cell, minlength=size).reshape(shape).tolist()
        places = np.bincount(cell, _real(self._place), size).reshape(shape).tolist()
        points = np.bincount(cell, _real(self._points), size).reshape(shape).tolist()
        found: list[list[tuple[int, float, float]]] = []
        for row in zip(deals, places, points, strict=True):
            used = max((seat + 1 for seat, count in enumerate(row[0]) if count), default=0)
            sums = list(zip(*row, strict=True))[:used]
            found.append([(count, float(place), float(point)) for count, place, point in sums])
        return found

    def meetings(self) -> tuple[list[list[int]], list[list[float]]]:
        """Return the deals that two entrants both played, and those in which one was ahead.

        Both are indexed by the numbers of two entrants. Ties count half.
        """
        size = self.entrants * self.entrants
        met, ahead = np.zeros(size, dtype=np.int64), np.zeros(size)
        sizes = _whole(self._sizes)
        starts = np.cumsum(sizes) - sizes
        entrant, place = _whole(self._entrant), _real(self._place)
        for players in np.unique(sizes).tolist():
            first = starts[sizes == players]
            for one in range(players):
                for other in range(players):
                    if one != other:
                        pair = entrant[first + one] * self.entrants + entrant[first + other]
                        mine, others = place[first + one], place[first + other]
                        won = np.where(mine < others, 1.0, np.where(mine == others, 0.5, 0.0))
                        met += np.bincount(pair, minlength=size)
                        ahead += np.bincount(pair, won, size)
        shape = (self.entrants, self.entrants)
        return met.reshape(shape).tolist(), ahead.reshape(shape).tolist()


def _whole(numbers: array[int]) -> Ints:
    return np.asarray(numbers, dtype=np.int64)


def _real(numbers: array[float]) -> Floats:
    return np.asarray(numbers, dtype=np.float64)


_CHUNK = 2048
"""Groups at a time; limits memory to 16 KiB an entrant."""
_PRIOR_MATCHES = 20
"""Matches at which a seen ratio counts as much as the one that it is shrunk towards."""


def covariance(fit: Fit, group_of_deal: Mapping[int, Sequence[int]]) -> Floats:
    """Return the covariance of the errors of mu relative to the field's mean, [entrant, entrant].

    The model's covariance is scaled by the spread of whole groups (a sandwich estimate), which
    widens or narrows it. An entrant that has not met any other keeps its prior variance and is
    uncorrelated with all others.

    Args:
        fit: The converged ratings.
        group_of_deal: By the number of players, the group of each deal in the fit's order.
    """
    prior = fit.model.sigma**-2
    entrants = len(fit.mu)
    same = (fit.connected[:, np.newaxis] == fit.connected).astype(np.float64)
    common_mean = same / same.sum(axis=1)
    information = sum(
        (table.information(entrants, fit.model.beta) for table in fit.evidence), start=same * 0
    )
    expected: Floats = np.linalg.inv(information + prior * np.eye(entrants)) - common_mean / prior
    alone = same.sum(axis=1) == 1
    expected[alone, alone] = 1 / prior
    seen, pushes, groups = np.zeros(entrants), np.zeros(entrants), np.zeros(entrants)
    for table in fit.evidence:
        for forces in _forces(table, fit.mu, group_of_deal[table.players]):
            seen += np.square(forces @ expected).sum(axis=0)
            pushes += np.square(forces).sum(axis=0)
            groups += (forces != 0).sum(axis=0)
    # A few groups underestimate the variance, and a single group shows none.
    correction = groups / np.maximum(groups - 1, 1)
    own = np.diag(information)
    share = _share_of_even_deals(fit, own)
    matches = np.where(groups > 1, groups * np.square(share), 0)
    # Forces, not ratings: all ratings depend on that of a bot that is much better than the rest.
    of_field = float((pushes * correction).sum() / max(own.sum(), 1e-300))
    ratios = seen * correction / np.diag(expected)
    scale = np.sqrt(_shrunk(ratios, of_field, matches, share))
    result: Floats = expected * np.outer(scale, scale) + _pull(fit, expected)
    return result


def _pull(fit: Fit, expected: Floats) -> Floats:
    """Return what the pull of the prior adds to the covariance in a field wider than the prior.

    The prior pulls all ratings towards its mean. The expected covariance allows for that in a field
    whose skills spread as the prior says; in a wider one the rest counts as an error.
    """
    prior = fit.model.sigma**-2
    away = fit.mu - fit.model.mu
    # The ratings are pulled themselves, so a first estimate of the pull is added to them.
    pull = prior * expected @ (away + prior * expected @ away)
    allowed = prior * np.square(expected).sum()
    total = np.square(pull).sum()
    result: Floats = max(0.0, 1 - allowed / max(total, 1e-300)) * np.outer(pull, pull)
    return result


def _share_of_even_deals(fit: Fit, information: Floats) -> Floats:
    """Return the information of each entrant's deals as a share of that of deals of equal bots.

    A deal of two equal bots has the information 1 / (pi beta²) about each of them. If there are
    more players it has more, and the share is limited to 1.
    """
    deals = np.zeros(len(fit.mu))
    for table in fit.evidence:
        players = table.entrants[:, table.outcome_of_deal.ravel()]
        deals += np.bincount(players.ravel(), minlength=len(deals))
    even = deals / (pi * fit.model.beta**2)
    result: Floats = np.minimum(information / np.maximum(even, 1e-300), 1)
    return result


def _shrunk(ratios: Floats, of_field: float, matches: Floats, share: Floats) -> Floats:
    """Return the ratios of seen to expected variances, shrunk to what the matches can show.

    The ratio of the field widens all errors. It narrows them only as far as the deals of the
    entrant and of the field are open: where results are nearly certain, equal cards hardly make
    them more so, and the rare upsets that would show the spread are missing.

    Args:
        ratios: By entrant.
        of_field: The ratio of all forces.
        matches: The number of matches on which each ratio is based; 0 where it is unknown.
        share: The information of each entrant's deals as a share of that of even ones.
    """
    known = np.where(matches > 0, ratios, 1.0)
    total = matches.sum()
    of_all = (total * of_field + _PRIOR_MATCHES) / (total + _PRIOR_MATCHES)
    openness = np.square(share) * np.square(share).mean()
    common = of_all if of_all > 1 else 1 - (1 - of_all) * openness
    own = (matches * known + _PRIOR_MATCHES * common) / (matches + _PRIOR_MATCHES)
    result: Floats = np.maximum(own, common)
    return result


def _forces(table: Evidence, mu: Floats, group_of_deal: Sequence[int]) -> Iterator[Floats]:
    """Yield the force of each group on each entrant, [group, entrant], chunk by chunk."""
    entrants = len(mu)
    by_outcome = table.shifts - table.precisions * mu[table.entrants]
    rows = table.outcome_of_deal.ravel()
    who = table.entrants[:, rows]
    pairs, index = np.unique(np.asarray(group_of_deal) * entrants + who, return_inverse=True)
    sums = np.bincount(index.ravel(), by_outcome[:, rows].ravel())
    numbers, group = np.unique(pairs // entrants, return_inverse=True)
    for first in range(0, len(numbers), _CHUNK):
        begin, end = np.searchsorted(group, [first, first + _CHUNK])
        forces = np.zeros((min(_CHUNK, len(numbers) - first), entrants))
        forces[group[begin:end] - first, pairs[begin:end] % entrants] = sums[begin:end]
        yield forces
