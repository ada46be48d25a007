"""The formats of version 1 of the pairing rules, for tournaments that began with it.

This module is frozen because a stored tournament must be planned again exactly as it was. The
modules of the current formats describe and explain the differences.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations, pairwise, product
from math import sqrt
from operator import add, mul
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from tourney_runner.errors import UsageError
from tourney_runner.ratings.model import Model, Rating, finishing_order
from tourney_runner.ratings.truncated_gaussian import tie_message, win_message
from tourney_runner.schedule.base import Field, Format, RoundResult, Table, draw, permutation
from tourney_runner.schedule.knockout import KnockoutOptions
from tourney_runner.schedule.ladder import LadderOptions
from tourney_runner.schedule.pairing import check_teams
from tourney_runner.schedule.round_history import Followed, History, pair, seated
from tourney_runner.schedule.swiss import SwissOptions

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["Knockout", "Ladder", "Swiss"]

_SWISS_REMATCH = 1.5
"""Cost of a rematch, as a distance in the ranking: the same as sitting this many tables apart,
before squaring. A rematch is avoided by trading with a neighbouring table, but not at any price.
"""
_TEAM = 1e9
_REACH = 2
"""Greatest distance, in tables, at which two tables trade players."""
_PASSES = 20
_LADDER_REMATCH = 0.1
"""Cost of a previous meeting, as a difference of strength in betas."""


class Swiss(Format[SwissOptions]):
    """A Swiss tournament, paired by score."""

    name: ClassVar[str] = "swiss"
    summary: ClassVar[str] = "every round against others with about the same score"
    options: ClassVar[type[SwissOptions]] = SwissOptions

    def __init__(self, field: Field, options: SwissOptions) -> None:
        super().__init__(field, options)
        self._tables = field.entrants // field.players
        self._teams = field.numbered_teams()
        check_teams(self._teams, self._tables)
        self._history = Followed(History)

    def rounds(self) -> int:
        """Return the configured number of rounds."""
        return self.chosen.rounds

    def matches(self, round_number: int) -> int:  # noqa: ARG002 - all rounds are alike
        """Return the number of tables times the configured number of games."""
        return self._tables * self.chosen.games

    def ahead(self) -> bool:
        """Return False: the next tables depend on the scores."""
        return False

    def plan(self, round_number: int, finished: Sequence[RoundResult]) -> Iterator[Table] | None:
        """Return the tables of a round by the scores so far; None after the last round."""
        if round_number >= self.chosen.rounds:
            return None
        random = draw(self.field.seed, "swiss", round_number)
        history = self._history.after(finished[:round_number])
        ranking = history.ranking(permutation(range(self.field.entrants), random))
        playing = self._playing(ranking, history)
        tables = _neighbour_tables(playing, self.field.players, history.meetings, self._teams)
        return iter(seated(round_number, tables, self.chosen.games, history, random, by_pair=False))

    def _playing(self, ranking: list[int], history: History) -> list[int]:
        """Return the ranking without the entrants that sit out."""
        out = len(ranking) % self.field.players
        from_bottom = ranking[::-1]
        from_bottom.sort(key=lambda entrant: -history.rounds[entrant])
        resting = set(from_bottom[:out])
        return [entrant for entrant in ranking if entrant not in resting]


class Knockout(Format[KnockoutOptions]):
    """A seeded knockout bracket."""

    name: ClassVar[str] = "knockout"
    summary: ClassVar[str] = "the better half of each table goes on, until one table is left"
    options: ClassVar[type[KnockoutOptions]] = KnockoutOptions
    last_table_decides: ClassVar[bool] = True

    def __init__(self, field: Field, options: KnockoutOptions) -> None:
        super().__init__(field, options)
        if field.numbered_teams():
            raise UsageError("a knockout cannot keep teams apart: its last table may hold two")
        self._staying = field.players // 2
        self._sizes = self._round_sizes()
        self._history = Followed(History)

    def rounds(self) -> int:
        """Return the number of rounds until one table is left, including that table."""
        return len(self._sizes)

    def matches(self, round_number: int) -> int:
        """Return the number of tables in a round times the configured number of games."""
        return self._sizes[round_number] // self.field.players * self.chosen.games

    def ahead(self) -> bool:
        """Return False: the survivors depend on the results."""
        return False

    def plan(self, round_number: int, finished: Sequence[RoundResult]) -> Iterator[Table] | None:
        """Return the tables of the entrants still in; None after the last table."""
        if round_number >= len(self._sizes):
            return None
        alive = self._seeds()
        for result in finished[:round_number]:
            alive = self._survivors(alive, result)
        tables = _dealt(self._playing(alive), self.field.players)
        random = draw(self.field.seed, "knockout", round_number)
        history = self._history.after(finished[:round_number])
        return iter(seated(round_number, tables, self.chosen.games, history, random, by_pair=False))

    def _seeds(self) -> list[int]:
        listed = range(self.field.entrants)
        if self.chosen.seeding == "listed":
            return list(listed)
        return permutation(listed, draw(self.field.seed, "seeds"))

    def _round_sizes(self) -> list[int]:
        """Return the number of entrants still in at the start of each round."""
        alive, sizes = self.field.entrants, []
        while alive > self.field.players:
            sizes.append(alive)
            alive = self._left(alive)
        return [*sizes, alive]

    def _left(self, alive: int) -> int:
        going = alive // self.field.players * (self.field.players - self._staying)
        return max(alive - going, self.field.players)

    def _playing(self, alive: list[int]) -> list[int]:
        """Return the entrants without a bye."""
        return alive[len(alive) % self.field.players :]

    def _survivors(self, alive: list[int], result: RoundResult) -> list[int]:
        """Return the entrants that go on, in the order of seeds."""
        seed = {entrant: number for number, entrant in enumerate(alive)}

        def merit(entrant: int) -> tuple[float, float, int]:
            return -result.points[entrant], result.places[entrant], seed[entrant]

        playing = self._playing(alive)
        staying = set(alive) - set(playing)
        for table in _dealt(playing, self.field.players):
            staying.update(sorted(table, key=merit)[: self._staying])
        others = sorted((e for e in playing if e not in staying), key=merit)
        staying.update(others[: self._left(len(alive)) - len(staying)])
        return [entrant for entrant in alive if entrant in staying]


def _dealt(seeds: list[int], players: int) -> list[list[int]]:
    """Return seeds dealt over full tables, back and forth: 1 4 5 8 and 2 3 6 7."""
    count = len(seeds) // players
    tables: list[list[int]] = [[] for _ in range(count)]
    for number, entrant in enumerate(seeds):
        turn, place = divmod(number, count)
        tables[place if turn % 2 == 0 else count - 1 - place].append(entrant)
    return tables


class _Past:
    """The finished rounds, and the ratings after them."""

    def __init__(self, model: Model, entrants: int) -> None:
        self._model = model
        self.history = History()
        self.ratings: list[Rating] = [model.start] * entrants

    def add(self, result: RoundResult) -> None:
        """Add a round to the history and update the ratings."""
        self.history.add(result)
        for table in result.tables:
            means = [result.places[entrant] for entrant in table]
            order = sorted(set(means))
            places = [order.index(mean) + 1 for mean in means]
            after = _rate(self._model, [self.ratings[entrant] for entrant in table], places)
            for entrant, rating in zip(table, after, strict=True):
                self.ratings[entrant] = rating


class Ladder(Format[LadderOptions]):
    """A ladder, paired by the uncertainty of ratings."""

    name: ClassVar[str] = "ladder"
    summary: ClassVar[str] = "matches for the least certain ratings, against bots of like strength"
    options: ClassVar[type[LadderOptions]] = LadderOptions
    staged: ClassVar[bool] = True
    open_to_newcomers: ClassVar[bool] = True
    seeks_newcomers: ClassVar[bool] = True

    def __init__(self, field: Field, options: LadderOptions) -> None:
        super().__init__(field, options)
        self._present = field.present()
        filled = len(self._present) // field.players
        self._tables = min(options.tables or max(1, filled // 2), filled)
        self._teams = field.numbered_teams()
        check_teams([self._teams[one] for one in self._present] if self._teams else None, filled)
        self._model = Model(tau=options.tau)
        self._past = Followed(lambda: _Past(self._model, field.entrants))

    def rounds(self) -> int:
        """Return the configured number of rounds."""
        return self.chosen.rounds

    def matches(self, round_number: int) -> int:  # noqa: ARG002 - all rounds are alike
        """Return the number of tables in a round, which play one match each."""
        return self._tables

    def ahead(self) -> bool:
        """Return False: the next tables depend on the ratings."""
        return False

    def plan(self, round_number: int, finished: Sequence[RoundResult]) -> Iterator[Table] | None:
        """Return the tables of a round by the ratings so far; None after the last round."""
        if round_number >= self.chosen.rounds:
            return None
        random = draw(self.field.seed, "ladder", round_number)
        past = self._past.after(finished[:round_number])
        free = permutation(self._present, random)
        free.sort(key=lambda entrant: (-past.ratings[entrant].sigma, past.history.matches[entrant]))
        tables: list[list[int]] = []
        while len(tables) < self._tables and (table := self._table(free, past)):
            tables.append(table)
            free = [entrant for entrant in free if entrant not in table]
        return iter(seated(round_number, tables, 1, past.history, random, by_pair=False))

    def _table(self, free: list[int], past: _Past) -> list[int]:
        """Return the first free entrant that finds enough guests, with them; empty if none does."""
        for host in free:

            def distance(guest: int, host: int = host) -> float:
                apart = abs(past.ratings[host].mu - past.ratings[guest].mu) / self._model.beta
                return apart + _LADDER_REMATCH * past.history.meetings[pair(host, guest)]

            table = [host]
            for guest in sorted((entrant for entrant in free if entrant != host), key=distance):
                if self._welcome(guest, table):
                    table.append(guest)
                if len(table) == self.field.players:
                    return table
        return []

    def _welcome(self, guest: int, table: list[int]) -> bool:
        teams = self._teams
        return teams is None or all(teams[guest] != teams[entrant] for entrant in table)


def _neighbour_tables(
    ranking: Sequence[int],
    players: int,
    meetings: Counter[tuple[int, int]],
    teams: Sequence[int] | None,
) -> list[list[int]]:
    """Cut a ranking into tables, then trade players while that lowers the total cost.

    Args:
        ranking: Entrants, the best first; a multiple of `players`.
        players: Seats at a table.
        meetings: The number of meetings of each `pair`.
        teams: A number for each entrant, equal for members of the same team only.
    """
    level = {entrant: place / players for place, entrant in enumerate(ranking)}
    tables = [list(ranking[first : first + players]) for first in range(0, len(ranking), players)]

    def cost(table: list[int]) -> float:
        total = 0.0
        for one, other in combinations(table, 2):
            total += (level[one] - level[other]) ** 2
            total += (_SWISS_REMATCH * meetings[pair(one, other)]) ** 2
            total += _TEAM if teams and teams[one] == teams[other] else 0.0
        return total

    for _ in range(_PASSES):
        trades = 0
        for upper, lower in combinations(tables, 2):
            apart = level[lower[0]] - level[upper[0]]
            # A team may have to be spread over the whole field.
            if apart <= _REACH or cost(upper) + cost(lower) >= _TEAM:
                trades += _trade(upper, lower, cost)
        if not trades:
            break
    return tables


def _trade(upper: list[int], lower: list[int], cost: Callable[[list[int]], float]) -> int:
    """Trade players between two tables while that lowers their cost; return the number traded."""
    trades = 0
    best = cost(upper) + cost(lower)
    for place, other in product(range(len(upper)), range(len(lower))):
        upper[place], lower[other] = lower[other], upper[place]
        traded = cost(upper) + cost(lower)
        if traded < best - 1e-9:
            best, trades = traded, trades + 1
        else:
            upper[place], lower[other] = lower[other], upper[place]
    return trades


_SWEEPS = 10
_STILL = 1e-4
"""The sweeps end when no shift, and no root of a precision, changes by more than this."""


def _rate(model: Model, ratings: Sequence[Rating], places: Sequence[int]) -> list[Rating]:
    """Return the beliefs after a deal, by the chain of comparisons that version 1 used.

    Today's ratings in schedule order come from the package ``trueskill``. Their last digits differ,
    and the pairing depends on them where two entrants are equally uncertain.
    """
    order = finishing_order(places, 0)
    drift, noise = model.tau * model.tau, model.beta * model.beta
    means = [ratings[player].mu for player in order]
    variances = [ratings[player].sigma * ratings[player].sigma + drift for player in order]
    ties = [places[one] == places[two] for one, two in pairwise(order)]
    performances = [variance + noise for variance in variances]
    evidence = _evidence(means, performances, ties, model.draw_margin)
    result = list(ratings)
    for player, mean, variance, (heard, heard_shift) in zip(
        order, means, variances, evidence, strict=True
    ):
        # The evidence is about a performance, which is the skill plus noise.
        discount = 1 / (1 + noise * heard)
        revised = 1 / (1 / variance + discount * heard)
        mean_after = (mean / variance + discount * heard_shift) * revised
        result[player] = Rating(mean_after, sqrt(revised))
    return result


class _Step(NamedTuple):
    """A comparison of neighbours in a sweep, and the receivers of its message."""

    above: int
    below: int
    tell_worse: bool
    tell_better: bool


@cache
def _sweep(players: int) -> tuple[_Step, ...]:
    """Return the steps down the chain, which inform the worse, and up again to the second pair."""
    last = players - 2
    down = [
        _Step(pair, pair + 1, tell_worse=True, tell_better=pair == last) for pair in range(last + 1)
    ]
    up = [
        _Step(pair, pair + 1, tell_worse=False, tell_better=True) for pair in range(last - 1, 0, -1)
    ]
    return (*down, *up)


def _evidence(
    means: list[float], variances: list[float], ties: list[bool], margin: float
) -> list[tuple[float, float]]:
    """Return the messages of the comparisons along the chain about each performance.

    It is a single loop over plain numbers: objects and calls would make it 50 % slower, and a table
    of a million deals takes twenty million comparisons.

    Args:
        means: The mean belief about each performance before the deal, in the order of places.
        variances: The variances of these beliefs.
        ties: For each pair of neighbours, whether they tied.
        margin: The draw margin.

    Returns:
        For each performance, precision and shift of all messages that it received. (Independent
        evidence adds up as precisions and precisions times means, "shifts".)
    """
    priors = [1 / variance for variance in variances]
    prior_shifts = list(map(mul, means, priors))
    messages = [tie_message if tie else win_message for tie in ties]
    # The messages to each performance from its better and its worse neighbour, and the beliefs
    # about it from the prior and either message.
    better, better_shift = [0.0] * len(means), [0.0] * len(means)
    worse, worse_shift = [0.0] * len(means), [0.0] * len(means)
    upper, upper_variance = means.copy(), variances.copy()
    lower, lower_variance = means.copy(), variances.copy()
    # The last message of each pair.
    said, said_shift = [0.0] * len(ties), [0.0] * len(ties)
    for _ in range(_SWEEPS if len(ties) > 1 else 1):
        still = True
        for above, below, tell_worse, tell_better in _sweep(len(means)):
            mean, variance = upper[above], upper_variance[above]
            mean_below, variance_below = lower[below], lower_variance[below]
            total = variance + variance_below
            scale = sqrt(total)
            difference, spread = messages[above]((mean - mean_below) / scale, margin / scale)
            difference *= scale
            spread *= total
            precision = 1 / spread
            shift = difference * precision
            if still and (
                abs(shift - said_shift[above]) > _STILL
                or abs(precision - said[above]) > _STILL * _STILL
            ):
                still = False
            said[above], said_shift[above] = precision, shift
            if tell_worse:
                better[below] = heard = 1 / (variance + spread)
                better_shift[below] = shift = heard * (mean - difference)
                upper_variance[below] = variance = 1 / (priors[below] + heard)
                upper[below] = (prior_shifts[below] + shift) * variance
            if tell_better:
                worse[above] = heard = 1 / (variance_below + spread)
                worse_shift[above] = shift = heard * (mean_below + difference)
                lower_variance[above] = variance = 1 / (priors[above] + heard)
                lower[above] = (prior_shifts[above] + shift) * variance
        if still:
            break
    # The best player receives the last message of the first pair, updated for the current belief
    # about the worse one.
    share = 1 / (1 + said[0] * lower_variance[1])
    worse[0] = said[0] * share
    worse_shift[0] = (said[0] * lower[1] + said_shift[0]) * share
    return list(zip(map(add, better, worse), map(add, better_shift, worse_shift), strict=True))
