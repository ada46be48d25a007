"""Everything that tables and pages show, read from a results file and from nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from runner.errors import UsageError
from runner.play.seeds import seed_hash
from runner.ratings.model import Model
from runner.ratings.standings import Standing, standings

if TYPE_CHECKING:
    from runner.results.store import Store

__all__ = ["EntrantFacts", "Facts", "Summary", "kept_facts", "summarise"]


class EntrantFacts(msgspec.Struct, frozen=True):
    """What is known of a bot besides its deals."""

    name: str
    language: str
    author: str
    hash: str
    executable: str


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
    entrants: tuple[EntrantFacts, ...]


class Summary(msgspec.Struct, frozen=True):
    """A tournament so far."""

    facts: Facts
    seed: int | str | None
    """None while it is secret."""
    seed_sha256: str
    deals: int
    complete: bool
    entrants: tuple[Standing, ...]


def kept_facts(store: Store) -> Facts:
    """What a results file says of its tournament.

    Raises:
        UsageError: Nothing was begun there.
    """
    kept = store.meta("facts")
    if kept is None:
        raise UsageError(f"{store.path}: no tournament was begun here")
    return msgspec.convert(kept, Facts)


def summarise(store: Store) -> Summary:
    """Compute the table of a results file.

    Raises:
        UsageError: Nothing was begun there.
    """
    facts = kept_facts(store)
    seed = store.meta("seed")
    complete = bool(store.meta("complete"))
    table = standings(
        [entrant.name for entrant in facts.entrants], store.records(), Model(**facts.rating)
    )
    return Summary(
        facts=facts,
        seed=seed["value"] if complete or not seed["secret"] else None,
        seed_sha256=seed_hash(str(seed["value"])),
        deals=table.deals,
        complete=complete,
        entrants=table.entrants,
    )
