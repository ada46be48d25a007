"""Tables of players with about the same score, with as few rematches as possible.

Tables begin as slices of the ranking. A seeded search then lets players change places: rematches
cost most, and differences in score come second. It is a threshold search, which accepts a worse
arrangement less and less often (Dueck and Scheuer, 1990), and it always takes the same number of
steps. At tables of two, a matching in the graph of unplayed pairs follows: no rematch remains if
such a matching exists (Edmonds, 1965).
"""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING

from tourney_runner.errors import UsageError
from tourney_runner.schedule.base import below

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from tourney_runner.schedule.base import Draw

__all__ = ["check_teams", "score_tables"]

_STEPS = 40_000
"""Changes tried for a round. With 40 bots at tables of four, nine rounds have less than 1 % of
rematches and seven have none. A round takes a quarter of a second.
"""
_STEPS_A_TABLE = 4_500
"""Changes tried for each table after the first; small fields need fewer."""
_REMATCH = 1000.0
"""Cost of a previous meeting. Players that are one table apart in the ranking cost 1, and the cost
grows with the square of the distance.
"""
_TEAM = 1e9
_WARMTH = 300.0
"""Greatest increase of the cost that the search accepts at the start."""


def check_teams(teams: Sequence[int] | None, tables: int) -> None:
    """Refuse a team that has more members than there are tables to spread them over.

    Raises:
        UsageError: Two members of a team would have to meet.
    """
    largest = max(Counter(teams).values()) if teams else 1
    if largest > tables:
        raise UsageError(
            f"a team of {largest} cannot be kept apart at {tables} tables a round: "
            f"teams may have at most {tables}"
        )


def score_tables(
    levels: Mapping[int, float],
    players: int,
    met: Mapping[int, Mapping[int, int]],
    teams: Sequence[int] | None,
    random: Draw,
) -> list[list[int]]:
    """Seat all players with few rematches, together with others of about the same score.

    Args:
        levels: The players in the order of the ranking, a multiple of `players`; the value is the
            place, shared by equal scores, in tables from the top.
        players: Seats at a table.
        met: The number of meetings of each player with each other player.
        teams: A number for each entrant, equal for members of the same team only. They never meet.
        random: The round's source of random numbers.
    """
    ranking = list(levels)
    tables = [ranking[first : first + players] for first in range(0, len(ranking), players)]
    search = _Search(tables, levels, met, teams)
    search.run(random)
    search.part_mates()
    if players == 2:
        return _without_rematches(tables, levels, met, teams)
    return tables


class _Search:
    """A search that lets players of different tables change places.

    Args:
        tables: Changed in place.
        levels: See `score_tables`.
        met: See `score_tables`.
        teams: See `score_tables`.
    """

    def __init__(
        self,
        tables: list[list[int]],
        levels: Mapping[int, float],
        met: Mapping[int, Mapping[int, int]],
        teams: Sequence[int] | None,
    ) -> None:
        self._tables = tables
        self._levels = levels
        self._met = met
        self._teams = teams

    def run(self, random: Draw) -> None:
        """Run all steps of the search."""
        tables = self._tables
        count, players = len(tables), len(tables[0])
        steps = min(_STEPS, _STEPS_A_TABLE * (count - 1))
        for step in range(steps):
            warmth = _WARMTH * (1 - step / steps) ** 2
            here = below(count, random)
            # One table away in half of the steps, two in a sixth, and less often at greater
            # distances.
            away = int(1 / (random() + 1 / count))
            there = (here + away if random() < 0.5 else here - away) % count
            if here == there:
                continue
            place, other = below(players, random), below(players, random)
            change = self._change(tables[here], place, tables[there], other)
            if change <= 0 or change < warmth * random() ** 2:
                _swap(tables[here], place, tables[there], other)

    def part_mates(self) -> None:
        """Separate any members of a team that still sit together, which is always possible."""
        teams = self._teams
        if teams is None:
            return
        for table in self._tables:
            for place, one in enumerate(table):
                while any(teams[one] == teams[mate] for mate in table if mate != one):
                    _, there, other = min(
                        (self._change(table, place, there, other), number, other)
                        for number, there in enumerate(self._tables)
                        if there is not table
                        for other in range(len(there))
                    )
                    _swap(table, place, self._tables[there], other)

    def _change(self, here: list[int], place: int, there: list[int], other: int) -> float:
        """Return the increase of the total cost if two players change places."""
        one, two = here[place], there[other]
        left = here[:place] + here[place + 1 :]
        right = there[:other] + there[other + 1 :]
        return (
            self._cost(two, left)
            + self._cost(one, right)
            - self._cost(one, left)
            - self._cost(two, right)
        )

    def _cost(self, player: int, others: list[int]) -> float:
        levels, met, teams = self._levels, self._met[player], self._teams
        level, total = levels[player], 0.0
        for other in others:
            apart = level - levels[other]
            total += apart * apart
            if other in met:
                total += _REMATCH * met[other]
            if teams is not None and teams[player] == teams[other]:
                total += _TEAM
        return total


def _swap(here: list[int], place: int, there: list[int], other: int) -> None:
    here[place], there[other] = there[other], here[place]


def _without_rematches(
    pairs: list[list[int]],
    levels: Mapping[int, float],
    met: Mapping[int, Mapping[int, int]],
    teams: Sequence[int] | None,
) -> list[list[int]]:
    """Match the players of rematches again, avoiding previous meetings as far as possible."""
    if not any(other in met[one] for one, other in pairs):
        return pairs
    mate = {one: two for pair in pairs if pair[1] not in met[pair[0]] for one, two in _both(pair)}
    # The nearest in score are tried first.
    order = sorted(levels, key=levels.__getitem__)

    def allowed(most: int) -> Callable[[int, int], bool]:
        return lambda one, other: (
            one != other
            and met[one].get(other, 0) <= most
            and (teams is None or teams[one] != teams[other])
        )

    most = 0
    while len(mate) < len(order):
        for player in order:
            if player not in mate:
                _Augmentation(player, mate, order, allowed(most)).find()
        most += 1
    place = {one: number for number, one in enumerate(order)}
    return [[one, mate[one]] for one in order if place[one] < place[mate[one]]]


def _both(pair: Sequence[int]) -> Iterator[tuple[int, int]]:
    one, two = pair
    yield one, two
    yield two, one


class _Augmentation:
    """A search for a way to enlarge a matching by one player while keeping all that it covers.

    It is one phase of Edmonds' algorithm: a tree of alternating paths grows from the root, and odd
    cycles (blossoms) are contracted to their base.

    Args:
        root: A player without a mate.
        mate: The matching, in both directions; changed in place.
        order: All players, in the order in which they are tried.
        allowed: Returns whether two players may be matched.
    """

    def __init__(
        self,
        root: int,
        mate: dict[int, int],
        order: Sequence[int],
        allowed: Callable[[int, int], bool],
    ) -> None:
        self._root = root
        self._mate = mate
        self._order = order
        self._allowed = allowed
        self._base = {one: one for one in order}
        self._parent: dict[int, int] = {}
        self._outer = {root}
        self._queue = deque([root])

    def find(self) -> bool:
        """Enlarge the matching; return whether that was possible."""
        while self._queue:
            one = self._queue.popleft()
            for two in self._order:
                if self._base[one] == self._base[two] or self._mate.get(one) == two:
                    continue
                if self._allowed(one, two) and self._reach(one, two):
                    return True
        return False

    def _reach(self, one: int, two: int) -> bool:
        """Take an edge from an outer player; return whether it ends the search."""
        mate, parent = self._mate, self._parent
        if two == self._root or (two in mate and mate[two] in parent):
            self._contract(one, two)
        elif two not in parent:
            parent[two] = one
            if two not in mate:
                self._flip(two)
                return True
            self._outer.add(mate[two])
            self._queue.append(mate[two])
        return False

    def _contract(self, one: int, two: int) -> None:
        """Contract the cycle that an edge between two outer players closes."""
        base = self._base
        top = self._ancestor(one, two)
        blossom: set[int] = set()
        for player, child in _both((one, two)):
            while base[player] != top:
                across = self._mate[player]
                blossom |= {base[player], base[across]}
                self._parent[player] = child
                child, player = across, self._parent[across]  # noqa: PLW2901 - a walk up the tree
        for player in self._order:
            if base[player] in blossom:
                base[player] = top
                if player not in self._outer:
                    self._outer.add(player)
                    self._queue.append(player)

    def _ancestor(self, one: int, two: int) -> int:
        """Return the base at which the paths of two outer players to the root meet."""
        path = set()
        player = self._base[one]
        path.add(player)
        while player != self._root and player in self._mate:
            player = self._base[self._parent[self._mate[player]]]
            path.add(player)
        player = self._base[two]
        while player not in path:
            player = self._base[self._parent[self._mate[player]]]
        return player

    def _flip(self, end: int) -> None:
        """Exchange matched and unmatched pairs along the path to an unmatched player."""
        player: int | None = end
        while player is not None:
            before = self._parent[player]
            following = self._mate.get(before)
            self._mate[player], self._mate[before] = before, player
            player = following
