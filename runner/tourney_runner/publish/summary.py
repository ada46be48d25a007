"""The summary of a results file, from which all tables, pages and the result box are made."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Literal

import msgspec

from tourney_runner.bots.cache import cache_folder
from tourney_runner.play.seeds import seed_hash
from tourney_runner.publish.round_tables import final_order, last_table_decides
from tourney_runner.ratings.model import Model
from tourney_runner.ratings.table import LEAST_MATCHES, Standing, Standings
from tourney_runner.results.records import DealKey
from tourney_runner.results.rulings import HEAVIEST_FIRST, disqualified, outcomes
from tourney_runner.results.tournament_record import TournamentRecord

if TYPE_CHECKING:
    from tourney_runner.ratings.standings import Scoreboard
    from tourney_runner.results.store import Store

__all__ = [
    "Contender",
    "ResultBox",
    "Ruling",
    "Summary",
    "VoidDeal",
    "groups",
    "result_box",
    "scoreboard",
    "summarise",
]

_CHECKPOINTS = "ratings"
"""The folder of the cache for checkpoints of ratings in schedule order."""


class Ruling(msgspec.Struct, frozen=True):
    """A decision of the organiser about a bot."""

    name: str
    kind: Literal["disqualified", "withdrawn", "benched"]
    reason: str
    at: str
    """The time of the decision, ISO 8601 in UTC."""
    since: str | None
    """The day from which it applies, if that is a different one."""
    from_round: int | None
    """The first round, from 0, that the bot does not take part in; None while that is not certain.
    """
    undone: str | None = None
    """The time at which it was taken back, ISO 8601 in UTC; None while it is in force."""


class VoidDeal(msgspec.Struct, frozen=True):
    """A deal that was declared void and played again."""

    key: DealKey
    names: tuple[str, ...]
    reason: str
    at: str
    """ISO 8601 in UTC."""


class PublishedSeed(msgspec.Struct, frozen=True):
    """A seed of later rounds, as far as it is public."""

    first_round: int
    """The first of those rounds, from 0."""
    seed: str | None
    """None while it is sealed."""
    sha256: str


class Summary(msgspec.Struct, frozen=True):
    """The state of a tournament."""

    facts: TournamentRecord
    seed: int | str | None
    """None while it is secret."""
    seed_sha256: str
    sealed: bool
    """Whether the seed of the last rounds is secret."""
    complete: bool
    table: Standings
    """The table of the deals that count."""
    later_seeds: tuple[PublishedSeed, ...] = ()
    """The seeds of rounds that were added after the tournament had been closed."""
    rulings: tuple[Ruling, ...] = ()
    """The rulings in force."""
    all_rulings: tuple[Ruling, ...] = ()
    """All rulings in order, including those that were taken back."""
    voids: tuple[VoidDeal, ...] = ()
    last_table_decides: bool = False
    """Whether the order of the last table, not this ranking, is the result."""
    final: tuple[str, ...] = ()
    """The bots at that table, the winner first; empty before it is played."""
    winners: int = 0
    """The number of them that share the first place."""
    remarks: tuple[str, ...] = ()
    """Remarks of the format about rounds, such as ties that the seeds decided."""

    @property
    def deals(self) -> int:
        """The number of deals that count."""
        return self.table.deals

    @property
    def entrants(self) -> tuple[Standing, ...]:
        """The rows by rank; disqualified ones last, without any deals."""
        return self.table.entrants

    def ruling(self, name: str) -> Ruling | None:
        """Return the ruling about a bot; a disqualification takes precedence over a withdrawal."""
        found = [ruling for ruling in self.rulings if ruling.name == name]
        return min(found, key=lambda ruling: HEAVIEST_FIRST.index(ruling.kind), default=None)


def scoreboard(store: Store, *, afresh: bool = False) -> Scoreboard:
    """Return the empty table of a results file, to which its deals can be added.

    Args:
        store: The results.
        afresh: Whether to use no checkpoints of earlier ratings.

    Raises:
        UsageError: No tournament was begun there.
    """
    # Arrays take a tenth of a second to import, too long for a table that is only read.
    from tourney_runner.ratings.standings import Scoreboard  # noqa: PLC0415

    facts = store.about()
    return Scoreboard(
        facts.names,
        Model(**facts.rating),
        facts.update,
        rank_by=facts.rank_by,
        references=[bot.number for bot in facts.entrants if bot.name in facts.references],
        disqualified=disqualified(store),
        checkpoints=None if afresh else cache_folder() / _CHECKPOINTS,
        anchor=facts.anchor,
    )


def summarise(store: Store, table: Standings | None = None, *, afresh: bool = False) -> Summary:
    """Return the table of a results file, with the facts about its tournament.

    Args:
        store: The results.
        table: Its table, if it has been computed; it saves reading the deals again.
        afresh: Whether to compute the table without checkpoints of earlier ratings.

    Raises:
        UsageError: No tournament was begun there.
    """
    facts = store.about()
    names = facts.names
    if table is None:
        board = scoreboard(store, afresh=afresh)
        for outcome in outcomes(store):
            board.add(outcome)
        table = board.standings()
    final, winners = final_order(store)
    rulings = tuple(
        Ruling(
            name=names[decision.entrant],
            kind=decision.kind,
            reason=decision.reason,
            at=decision.at,
            since=decision.since,
            from_round=decision.from_round,
            undone=decision.undone,
        )
        for decision in store.decisions()
    )
    return Summary(
        facts=facts,
        seed=facts.seed.value if facts.seed_is_public else None,
        seed_sha256=seed_hash(facts.seed.master),
        sealed=not facts.last_seed_is_public,
        later_seeds=_later_seeds(facts),
        complete=facts.complete,
        table=table,
        rulings=tuple(ruling for ruling in rulings if ruling.undone is None),
        all_rulings=rulings,
        voids=tuple(
            VoidDeal(
                key=void.record.key,
                names=tuple(names[entrant] for entrant in void.record.seating),
                reason=void.reason,
                at=void.at,
            )
            for void in store.voids()
        ),
        last_table_decides=last_table_decides(store),
        final=tuple(names[entrant] for entrant in final),
        winners=winners,
        remarks=facts.remarks,
    )


def _later_seeds(facts: TournamentRecord) -> tuple[PublishedSeed, ...]:
    """Return the later seeds; all but the last are public."""
    later = facts.later_seeds
    return tuple(
        PublishedSeed(
            one.first_round,
            one.master if one is not later[-1] or facts.last_seed_is_public else None,
            seed_hash(one.master),
        )
        for one in later
    )


_NAMED = 5
"""Contenders that are named; the others are only counted."""


class Contender(msgspec.Struct, frozen=True):
    """A bot that may be the best, according to the deals."""

    name: str
    best: int | None
    """The probability that it is the best, in percent; None where nothing is claimed."""


class ResultBox(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of the sentences in the result box."""

    verb: str
    """``won``, ``finished first``, ``leads`` or ``won the final``."""
    first: tuple[str, ...]
    """The bots that share the first rank, or the first place of the final."""
    contenders: tuple[Contender, ...] = ()
    """The bots whose rank range includes 1, the first ones included; at most `_NAMED`."""
    more: int = 0
    """Contenders that are not named."""
    too_little_data: bool = False
    least_matches: int = LEAST_MATCHES
    after: tuple[str, ...] = ()
    """The other bots of the last table, in its order."""

    @property
    def is_sure(self) -> bool:
        """Whether every other bot is surely weaker than the first."""
        return not self.too_little_data and len(self.contenders) == 1


def result_box(summary: Summary) -> ResultBox | None:
    """Return the result of a tournament; None before the first deal, or if no bot is ranked.

    Args:
        summary: The tournament. If the last table decides, its winner is the result.
    """
    if summary.last_table_decides:
        if not summary.final:
            return None
        first, after = summary.final[: summary.winners], summary.final[summary.winners :]
        verb = "won the final" if len(first) == 1 else "share the first place of the final"
        return ResultBox(verb=verb, first=first, after=after)
    ranked = [row for row in summary.entrants if row.status == "ranked"]
    if not ranked or not summary.deals:
        return None
    leading = [row for row in ranked if row.rank == ranked[0].rank]
    open_to = [row for row in ranked if row.rank_range and row.rank_range[0] == 1]
    sure = len(open_to) == 1
    return ResultBox(
        verb="leads" if not summary.complete else "won" if sure else "finished first",
        first=tuple(row.name for row in leading),
        contenders=tuple(_contender(row) for row in open_to[:_NAMED]),
        more=max(0, len(open_to) - _NAMED),
        too_little_data=summary.table.too_little_data,
    )


def groups(summary: Summary) -> frozenset[str]:
    """Return the names of ranked bots that are surely weaker than the bot above them.

    Tables draw a line above each of them: the bots between two lines are too close to call.
    """
    if summary.table.too_little_data:
        return frozenset()
    close = {(pair.above, pair.below) for pair in summary.table.too_close}
    ranked = [row.name for row in summary.entrants if row.status == "ranked"]
    return frozenset(
        below for above, below in itertools.pairwise(ranked) if (above, below) not in close
    )


def _contender(row: Standing) -> Contender:
    return Contender(row.name, None if row.best is None else round(100 * row.best))
