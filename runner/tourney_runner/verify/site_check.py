"""A check of a site by itself, such as one that was downloaded.

A site has no deals, so nothing can be computed again. What can be checked is whether its tables and
pages agree with each other: all of them show the numbers of ``standings.json``, and the matrix of
meetings shows what the pages of the bots say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from tourney_runner.errors import UsageError
from tourney_runner.publish.site_folder import SITE_FOLDER, is_site
from tourney_runner.verify.page_numbers import UNREADABLE, clean, numbers_in, page
from tourney_runner.verify.published_check import (
    Reference,
    facts_wrong,
    marker_of,
    numbers_wrong,
    rows_wrong,
)
from tourney_runner.verify.report import Findings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from tourney_runner.verify.page_numbers import Numbers, Page
    from tourney_runner.verify.report import Report

__all__ = ["site_in", "verify_site"]

_STANDINGS = "standings.json"
_DOCUMENT = "tournament.json"
_TOGETHER, _BEFORE = "deals together", "finished before it"
"""Columns of the table of opponents on the page of a bot."""
_SCORE_ERROR = 1e-6
_WHOLE_ERROR = 0.11
"""The most by which two shares, each rounded to 0.1 %, miss 100 %."""
_Opponents = dict[tuple[str, str], tuple[str, str]]
"""The deals together of a bot and another, and the share in which the first was ahead."""


class _Entrant(msgspec.Struct, frozen=True):
    """A row of ``standings.json`` of any version."""

    name: str
    rank: int
    mu: float
    sigma: float
    score: float
    deals: int
    points: float
    mean_place: float | None
    places: tuple[int, ...]
    status: str = ""
    disqualified: str | None = None

    @property
    def is_out(self) -> bool:
        """Whether it is disqualified."""
        return self.status == "disqualified" or self.disqualified is not None

    @property
    def numbers(self) -> Numbers:
        """The numbers that all tables show, by column."""
        return {
            "rank": self.rank,
            "mu": self.mu,
            "sigma": self.sigma,
            "score": self.score,
            "deals": self.deals,
            "points": self.points,
            "mean_place": self.mean_place,
        }


class _Standings(msgspec.Struct, frozen=True):
    """``standings.json`` of any version."""

    deals: int
    complete: bool
    entrants: tuple[_Entrant, ...]


def site_in(folder: Path) -> Path | None:
    """Return the site that a folder is or has; None if there is none.

    Raises:
        UsageError: The folder cannot be read.
    """
    return next((place for place in (folder, folder / SITE_FOLDER) if is_site(place)), None)


def verify_site(site: Path) -> Report:
    """Check the tables and pages of a site against each other.

    Raises:
        UsageError: The site of a league was given, or the site cannot be read.
    """
    findings = Findings(lambda _: 0)
    if not (site / _STANDINGS).is_file() and (site / "league.json").is_file():
        raise UsageError(
            f"{site}: this is the site of a league; verify the site of one season, in seasons/"
        )
    try:
        for text in _all_wrong(site):
            findings.add("tables", text)
    except OSError as error:
        raise UsageError(f"{site}: the site cannot be read here ({error.strerror})") from error
    return findings.report(deals=0, played=0, only_consistency=True)


def _all_wrong(site: Path) -> Iterator[str]:
    try:
        text = _bytes(site / _STANDINGS)
        standings = msgspec.json.decode(text, type=_Standings)
        everything = msgspec.json.decode(text)
    except UNREADABLE as error:
        yield f"{_STANDINGS}, to which everything is compared, cannot be read: {error}"
        return
    yield from _sums_wrong(standings)
    marker = marker_of(site)
    if (marker.deals, marker.complete) != (standings.deals, standings.complete):
        yield f"site.json was written with {marker.deals} deals, {_STANDINGS} has {standings.deals}"
    yield from _document_wrong(site, everything)
    pages = {path.name: page(_text(path)) for path in sorted((site / "bots").glob("[0-9]*.html"))}
    names = [shown.title for shown in pages.values()]
    shown = [one for one in standings.entrants if not one.is_out]
    # Earlier versions have no status, and a rank on every badge.
    ranked = {clean(one.name) for one in shown if one.status in {"", "ranked"}}
    rows = {clean(one.name): one.numbers for one in shown}
    everyone = {clean(one.name) for one in standings.entrants}
    for name in sorted(everyone ^ set(names)):
        yield f"{name} is {'without a page' if name in everyone else f'not in {_STANDINGS}'}"
    if everyone != set(names) or len(names) != len(everyone):
        return
    yield from numbers_wrong(site, Reference(names, rows, ranked))
    for file, bot in pages.items():
        if bot.title in rows:
            for wrong in facts_wrong(bot, rows[bot.title]):
                yield f"bots/{file}: {wrong}"
    against = _opponents(pages.values())
    yield from _opponents_wrong(against)
    yield from _meetings_wrong(site, against)
    yield from _replays_wrong(site)


def _sums_wrong(standings: _Standings) -> Iterator[str]:
    """Yield the rows whose numbers contradict each other."""
    for one in standings.entrants:
        if one.is_out:
            continue
        if sum(one.places) != one.deals:
            yield f"{_STANDINGS}: {one.name} has {one.deals} deals and {sum(one.places)} places"
        if abs(one.mu - 3 * one.sigma - one.score) > _SCORE_ERROR:
            yield f"{_STANDINGS}: the score of {one.name} is not mu - 3 sigma"
    for upper, lower in zip(standings.entrants, standings.entrants[1:], strict=False):
        if upper.status == lower.status == "ranked" and upper.rank > lower.rank:
            yield f"{_STANDINGS}: {lower.name} stands below {upper.name} with a better rank"


def _document_wrong(site: Path, standings: Any) -> Iterator[str]:
    """Yield whether the document for programs has another table than ``standings.json``."""
    path = site / _DOCUMENT
    if not path.is_file():  # a site of an earlier version
        return
    try:
        document = msgspec.json.decode(_bytes(path))
    except UNREADABLE as error:
        yield f"{_DOCUMENT} cannot be read: {error}"
        return
    if not isinstance(document, dict) or document.get("standings") != standings:
        yield f"{_DOCUMENT} has another table than {_STANDINGS}"


def _opponents(bots: Iterable[Page]) -> _Opponents:
    against: _Opponents = {}
    for bot in bots:
        table = bot.table("bot", _TOGETHER, _BEFORE)
        for row in () if table is None else table.rows:
            against[bot.title, row.name] = (
                row.cells.get(_TOGETHER, ""),
                row.cells.get(_BEFORE, ""),
            )
    return against


def _opponents_wrong(against: _Opponents) -> Iterator[str]:
    """Yield contradictions between the pages of two bots."""
    for (one, other), (deals, share) in against.items():
        back = against.get((other, one))
        if back is None:
            yield f"the page of {one} shows {other}, but not the other way round"
        elif one < other and deals != back[0]:
            yield f"the pages of {one} and {other} show {deals} and {back[0]} deals together"
        elif one < other and not _is_whole(share, back[1]):
            yield f"the pages of {one} and {other} show {share} and {back[1]}, not 100 % together"


def _is_whole(one: str, other: str) -> bool:
    shares = [float(found[0]) for found in map(numbers_in, (one, other)) if found]
    return not shares or (len(shares) > 1 and abs(sum(shares) - 100) < _WHOLE_ERROR)


def _meetings_wrong(site: Path, against: _Opponents) -> Iterator[str]:
    """Yield contradictions between the pages of the bots and the matrix of meetings."""
    table = page(_text(site / "meetings.html")).table("bot", "1")
    if table is None:  # a large field has a map without numbers
        return
    order = [row.name for row in table.rows]
    for row in table.rows:
        expected: Numbers = {}
        for at, other in enumerate(order):
            found = numbers_in(against.get((row.name, other), ("", ""))[1])
            expected[f"{at + 1}"] = float(found[0]) if found else None
        # Both are rounded: a share of 12.5 % may stand for 12.45 % and so for 12 or 13.
        for wrong in rows_wrong([row], {row.name: expected}, rounded=0.05):
            yield f"meetings.html: {wrong}"


def _replays_wrong(site: Path) -> Iterator[str]:
    """Yield the replays whose result differs from their entry in the list of replays."""
    listed = page(_text(site / "replays.html")).table("round", "match")
    for row in () if listed is None else listed.rows:
        number = "".join(numbers_in(row.first)[:1])
        replay = site / "replays" / f"{number.zfill(6)}.html"
        if not number or not replay.is_file():
            yield f"replays.html: {row.first} is listed, and its page is missing"
            continue
        result = page(_text(replay)).table("place", "bot", "points")
        players = list(row.cells.values())[-1]
        order = [] if result is None else [one.name for one in result.rows]
        if not order or ", ".join(order) not in clean(players):
            yield f"replays/{replay.name} has another result than replays.html"


def _text(path: Path) -> str:
    return _bytes(path).decode("utf-8", "replace")


def _bytes(path: Path) -> bytes:
    """Return the contents of a file; nothing for a missing one, a pipe or a device."""
    return path.read_bytes() if path.is_file() else b""
