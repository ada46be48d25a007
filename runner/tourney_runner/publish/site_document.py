"""Everything that the pages of a site show, as one JSON document for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from tourney_runner.publish.documents import StandingsDocument
from tourney_runner.publish.round_tables import RoundOfTables
from tourney_runner.publish.statistics import (
    DealRef,
    Endings,
    FaultRef,
    History,
    SlowRef,
    SpoiltRef,
    TimeUse,
)
from tourney_runner.publish.summary import Ruling, VoidDeal
from tourney_runner.ratings.analysis import Means
from tourney_runner.results.tournament_record import OwnTime, TimeChange

if TYPE_CHECKING:
    from tourney_runner.publish.statistics import TournamentStatistics
    from tourney_runner.publish.summary import Summary

__all__ = ["BotDocument", "Meetings", "SiteDocument", "site_document"]

_DIGITS = 4
"""Digits of probabilities in the matrices of meetings, which are large."""


class Meetings(msgspec.Struct, frozen=True):
    """Matrices by bot number: the row against the column."""

    deals: tuple[tuple[int, ...], ...]
    """Deals that both played."""
    ahead: tuple[tuple[float, ...], ...]
    """Those in which the row finished before the column; ties count half."""
    stronger: tuple[tuple[float, ...], ...]
    """The probability that the row is stronger, by rating."""


class BotDocument(msgspec.Struct, frozen=True, kw_only=True):
    """One bot, besides its row in the ranking."""

    number: int
    """From 0, in the order in which bots joined."""
    name: str
    author: str
    language: str
    hash: str
    """A hash of all inputs that determine how it plays."""
    team: str | None
    own_time: OwnTime | None
    """Its own time limits when it joined, in milliseconds; null for those of the tournament."""
    page: str
    """Its page, relative to the site."""
    means: Means
    """Its plain means with 95 % intervals, and its results in each seat."""
    time: TimeUse | None
    """Milliseconds a move; null for a bot that was never asked."""
    best: tuple[DealRef, ...]
    """Its best deals."""
    worst: tuple[DealRef, ...]
    slowest: tuple[SlowRef, ...]
    faults: tuple[FaultRef, ...]
    """Its first faults, as far as they may be shown."""


class SiteDocument(msgspec.Struct, frozen=True, kw_only=True):
    """``tournament.json`` of a site: everything that its pages show."""

    title: str
    url: str | None
    format: str
    """The format, such as ``swiss``; empty for a person's table."""
    rounds: int | None
    """Null where the format decides."""
    rules: dict[str, Any]
    """All rules in force."""
    limits: str
    """The limits of bots, in words."""
    sandbox: str
    """The protection of the host, in words."""
    clock: str
    """A description of the clock."""
    version: str
    """The version of tourney; earlier ones follow if there were several."""
    began: str | None
    """ISO 8601 in UTC, like all moments here."""
    ended: str | None
    closed: str | None
    standings: StandingsDocument
    decisions: tuple[Ruling, ...]
    """All decisions, including those that were taken back."""
    time_changes: tuple[TimeChange, ...]
    """Changes of the time limits; rounds and bots count from 0, times are in milliseconds."""
    voids: tuple[VoidDeal, ...]
    """Deals that were declared void and played again; keys count from 0."""
    spoilt: tuple[SpoiltRef, ...]
    """Deals that the host had spoilt, so that they were played again at once."""
    bots: tuple[BotDocument, ...]
    """By number."""
    meetings: Meetings
    history: History
    """The ratings over the course of the tournament."""
    endings: Endings
    """Statistics of how the deals ended."""
    cut_short: tuple[int, ...]
    """The numbers of the deals that were ended after ``max_moves``."""
    tables: tuple[RoundOfTables, ...]
    """The tables of each round, for formats that pair bots by their results."""


def site_document(
    summary: Summary,
    standings: StandingsDocument,
    statistics: TournamentStatistics,
    title: str,
    url: str | None,
) -> SiteDocument:
    """Return everything that the pages of a site show.

    Args:
        summary: The tournament and its table.
        standings: The same as a document.
        statistics: The statistics of its deals.
        title: The title of the site.
        url: The address of the site, if it is known.
    """
    facts = summary.facts
    bots = statistics.bots
    return SiteDocument(
        title=title,
        url=url,
        format="" if facts.schedule is None else facts.schedule.format,
        rounds=facts.rounds,
        rules=facts.rules,
        limits=facts.limits,
        sandbox=facts.conditions.protection,
        clock=facts.conditions.clock,
        version=facts.conditions.version,
        began=facts.began,
        ended=facts.ended if summary.complete else None,
        closed=facts.closed,
        standings=standings,
        decisions=summary.all_rulings,
        time_changes=facts.time_changes,
        voids=summary.voids,
        spoilt=statistics.spoilt,
        bots=tuple(
            BotDocument(
                number=bot.number,
                name=bot.name,
                author=bot.author,
                language=bot.language,
                hash=bot.hash,
                team=bot.team,
                own_time=bot.time,
                page=f"bots/{bot.number + 1:03}.html",
                means=results.means,
                time=results.time,
                best=results.best,
                worst=results.worst,
                slowest=results.slowest,
                faults=results.faults,
            )
            for bot, results in zip(facts.entrants, bots, strict=True)
        ),
        meetings=Meetings(
            tuple(tuple(met.deals for met in bot.against) for bot in bots),
            tuple(tuple(met.ahead for met in bot.against) for bot in bots),
            tuple(tuple(round(met.stronger, _DIGITS) for met in bot.against) for bot in bots),
        ),
        history=statistics.history,
        endings=statistics.endings,
        cut_short=statistics.cut_short,
        tables=statistics.rounds,
    )
