"""Everything that tables and pages show, read from a results file and from nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from tourney_runner.play.seeds import seed_hash
from tourney_runner.publish.knockout_result import final_order, last_table_decides
from tourney_runner.ratings.model import Model
from tourney_runner.ratings.raters import Update
from tourney_runner.ratings.standings import RankBy, Scoreboard, Standing, Standings
from tourney_runner.results.records import DealKey
from tourney_runner.results.rulings import HEAVIEST_FIRST, disqualified, in_force, outcomes

if TYPE_CHECKING:
    from tourney_runner.results.store import Store

__all__ = ["EntrantFacts", "Facts", "Summary", "kept_facts", "scoreboard", "summarise"]


class EntrantFacts(msgspec.Struct, frozen=True):
    """What is known of a bot besides its deals."""

    name: str
    language: str
    author: str
    hash: str
    executable: str
    rights: str = ""
    """What the organiser granted it, in words."""


class Facts(msgspec.Struct, frozen=True):
    """What is known of a tournament besides its deals; kept in the results."""

    name: str
    game: str
    rules: dict[str, Any]
    """All rules in force."""
    differing: dict[str, Any]
    """Those that are not the game's defaults."""
    limits: str
    protection: str
    clock: str
    version: str
    """Of this program, at the last run."""
    rating: dict[str, float]
    """The constants of the model."""
    entrants: tuple[EntrantFacts, ...]
    update: Update = "order_free"
    """How ratings are updated."""
    rank_by: RankBy = "score"
    """What the ranking goes by; folders that do not say were ranked by the score."""
    references: tuple[str, ...] = ()
    """The bots that the format measures, but does not rank."""


class Ruling(msgspec.Struct, frozen=True):
    """What the organiser has decided about a bot."""

    name: str
    kind: Literal["disqualified", "withdrawn", "benched"]
    reason: str
    at: str
    """When it was decided, ISO 8601 in UTC."""
    since: str | None
    """The day from which it holds, if that is another."""
    from_round: int | None
    """The first round, from 0, that it does not take part in; None while that is not certain."""


class VoidDeal(msgspec.Struct, frozen=True):
    """A deal that was declared void and played again."""

    key: DealKey
    names: tuple[str, ...]
    reason: str
    at: str
    """ISO 8601 in UTC."""


class Summary(msgspec.Struct, frozen=True):
    """A tournament so far."""

    facts: Facts
    seed: int | str | None
    """None while it is secret."""
    seed_sha256: str
    complete: bool
    table: Standings
    """Of the deals that count."""
    rulings: tuple[Ruling, ...] = ()
    """Those in force."""
    voids: tuple[VoidDeal, ...] = ()
    last_table_decides: bool = False
    """Whether the result is not this ranking, but the order of the last table."""
    final: tuple[str, ...] = ()
    """Who sat at that table, the winner first; nobody before it is played."""

    @property
    def deals(self) -> int:
        """The number of deals that count."""
        return self.table.deals

    @property
    def entrants(self) -> tuple[Standing, ...]:
        """The rows by rank; disqualified ones last, without any deals."""
        return self.table.entrants

    def ruling(self, name: str) -> Ruling | None:
        """What was decided about a bot; a disqualification before a withdrawal."""
        found = [ruling for ruling in self.rulings if ruling.name == name]
        return min(found, key=lambda ruling: HEAVIEST_FIRST.index(ruling.kind), default=None)


def kept_facts(store: Store) -> Facts:
    """What a results file says of its tournament.

    Raises:
        UsageError: Nothing was begun there.
    """
    return store.kept("facts", Facts)


def scoreboard(store: Store) -> Scoreboard:
    """Return the empty table of a results file, to which its deals can be added.

    Raises:
        UsageError: Nothing was begun there.
    """
    facts = kept_facts(store)
    names = [entrant.name for entrant in facts.entrants]
    return Scoreboard(
        names,
        Model(**facts.rating),
        facts.update,
        rank_by=facts.rank_by,
        references=[number for number, name in enumerate(names) if name in facts.references],
        disqualified=disqualified(store),
    )


def summarise(store: Store) -> Summary:
    """Compute the table of a results file.

    Raises:
        UsageError: Nothing was begun there.
    """
    facts = kept_facts(store)
    seed = store.meta("seed")
    complete = bool(store.meta("complete"))
    shown = complete and not store.meta("sealed")
    names = [entrant.name for entrant in facts.entrants]
    board = scoreboard(store)
    for outcome in outcomes(store):
        board.add(outcome)
    return Summary(
        facts=facts,
        seed=seed["value"] if shown or not seed["secret"] else None,
        seed_sha256=seed_hash(str(seed["value"])),
        complete=complete,
        table=board.standings(),
        rulings=tuple(
            Ruling(
                name=names[decision.entrant],
                kind=decision.kind,
                reason=decision.reason,
                at=decision.at,
                since=decision.since,
                from_round=decision.from_round,
            )
            for decision in in_force(store)
        ),
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
        final=tuple(names[entrant] for entrant in final_order(store)),
    )
