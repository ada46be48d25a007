"""The columns of the ranking.

All formats of the table, and the site, take their columns from here, so each is defined once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tourney_runner.publish.documents import TABLE_FORMAT
from tourney_runner.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tourney_runner.publish.summary import Summary
    from tourney_runner.ratings.table import Standing

__all__ = ["Column", "columns", "no_formula", "ruling_words"]

_FORMULA = tuple("=+-@\t\r＝＋－＠")  # noqa: RUF001 - spreadsheets take the wide ones, too
_ROOMY, _WIDE = 110, 126
"""Widths of a terminal, in characters, from which it shows more columns."""


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column of the ranking, for every format."""

    key: str
    """Its name for programs; the site displays some keys in a special way."""
    title: str
    """Its heading for people."""
    text: Callable[[Standing], str] | None = None
    """The cell for people; None if only CSV and the site have the column."""
    values: Mapping[str, Callable[[Standing], object]] = field(default_factory=dict)
    """The cells of CSV, by heading."""
    latex: str | None = None
    """The heading in LaTeX, if it differs from the title."""
    in_latex: bool = True
    """Whether LaTeX has it; a page of a paper is narrow."""
    left: bool = False
    """Whether the text is left-aligned."""
    from_width: int = 0
    """The narrowest terminal that shows it; 0 for any."""
    on_site: bool = True
    sort: Callable[[Standing], object] | None = None
    """The sort key on the site; None to sort by the text."""
    descending: bool = True
    """Whether a first click on the site's heading brings the highest value to the top."""

    @property
    def heading(self) -> str:
        """The heading in LaTeX."""
        return self.title if self.latex is None else self.latex


def columns(summary: Summary) -> tuple[Column, ...]:
    """Return the columns of a table, from left to right."""
    return (
        Column(
            key="rank",
            title="rank",
            text=_rank,
            values={"rank": lambda row: row.rank},
            descending=False,
        ),
        Column(
            key="name",
            title="bot",
            text=lambda row: row.name,
            values={
                "name": lambda row: no_formula(row.name),
                "status": lambda row: row.status,
            },
            left=True,
            descending=False,
        ),
        Column(
            key="rank_range",
            title="range",
            text=lambda row: _range(row.rank_range),
            values={
                "rank_low": lambda row: row.rank_range and row.rank_range[0],
                "rank_high": lambda row: row.rank_range and row.rank_range[1],
            },
            sort=lambda row: "" if row.rank_range is None else sum(row.rank_range),
            descending=False,
        ),
        Column(
            key="mu",
            title="mu",
            text=lambda row: _unless_out(row, f"{row.mu:.2f}"),
            values={"mu": lambda row: row.mu},
            latex=r"$\mu$",
            sort=lambda row: row.mu,
        ),
        Column(
            key="interval",
            title="95 %",
            text=_reach,
            values={
                "mu_low": lambda row: row.interval and row.interval.low,
                "mu_high": lambda row: row.interval and row.interval.high,
            },
            latex=r"95 \%",
            sort=lambda row: "" if row.interval is None else row.interval.low,
        ),
        Column(
            key="best",
            title="P(best)",
            text=lambda row: _percent(row.best),
            values={"best": lambda row: row.best},
            sort=lambda row: "" if row.best is None else row.best,
        ),
        Column(
            key="ahead_of_average",
            title="vs average",
            text=lambda row: _unless_out(row, _percent(row.ahead_of_average)),
            values={"ahead_of_average": lambda row: row.ahead_of_average},
            from_width=90,
            in_latex=False,
            sort=lambda row: row.ahead_of_average,
        ),
        Column(
            key="score",
            title="score",
            text=lambda row: _unless_out(row, f"{row.score:.2f}"),
            values={"score": lambda row: row.score},
            from_width=_WIDE,
            in_latex=False,
            sort=lambda row: row.score,
        ),
        Column(
            key="sigma",
            title="sigma",
            text=lambda row: _unless_out(row, f"{row.sigma:.2f}"),
            values={"sigma": lambda row: row.sigma},
            latex=r"$\sigma$",
            from_width=_WIDE,
            in_latex=False,
            on_site=False,
        ),
        Column(
            key="deals",
            title="deals",
            text=lambda row: f"{row.deals:,}",
            values={"matches": lambda row: row.matches, "deals": lambda row: row.deals},
            sort=lambda row: row.deals,
        ),
        Column(
            key="points",
            title="points",
            text=lambda row: _unless_out(row, f"{row.points:,.10g}"),
            values={"points": lambda row: row.points},
            from_width=_ROOMY,
            sort=lambda row: row.points,
        ),
        Column(
            key="mean_place",
            title="mean place",
            text=lambda row: "-" if row.mean_place is None else f"{row.mean_place:.3f}",
            values={"mean_place": lambda row: row.mean_place},
            descending=False,
        ),
        Column(key="places", title="places", values=_places(summary)),
        Column(
            key="faults",
            title="faults",
            text=_fault_words,
            values=_faults(summary) | {"forfeits": lambda row: row.forfeits},
            left=True,
        ),
        *(
            [
                Column(
                    key="ruling",
                    title="ruling",
                    values={"ruling": lambda row: no_formula(ruling_words(summary, row.name))},
                    on_site=False,
                )
            ]
            if summary.rulings
            else []
        ),
        Column(
            key="format_version",
            title="format version",
            values={"format_version": lambda _: TABLE_FORMAT},
            on_site=False,
        ),
    )


def _places(summary: Summary) -> dict[str, Callable[[Standing], object]]:
    players = max((len(row.places) for row in summary.entrants), default=0)
    return {f"place_{place + 1}": _place(place) for place in range(players)}


def _place(place: int) -> Callable[[Standing], int]:
    return lambda row: row.places[place] if place < len(row.places) else 0


def _faults(summary: Summary) -> dict[str, Callable[[Standing], object]]:
    kinds = sorted({kind for row in summary.entrants for kind in row.faults})
    return {f"faults_{kind}": _fault(kind) for kind in kinds}


def _fault_words(row: Standing) -> str:
    words = ", ".join(f"{kind} {count}" for kind, count in row.faults.items())
    if row.forfeits:
        words += f"{' ' if words else ''}(+ {row.forfeits} unplayed)"
    return words or "-"


def _fault(kind: str) -> Callable[[Standing], int]:
    return lambda row: row.faults.get(kind, 0)


def _rank(row: Standing) -> str:
    """Return the rank, marked if the bot is not ranked among the others."""
    match row.status:
        case "disqualified":
            return "-"
        case "reference":
            return "ref"
        case "provisional":
            return f"({row.rank})"
    return str(row.rank)


def _range(ranks: tuple[int, int] | None) -> str:
    if ranks is None:
        return "-"
    low, high = ranks
    return str(low) if low == high else f"{low}-{high}"


def _reach(row: Standing) -> str:
    if row.interval is None:
        return "-"
    return f"±{(row.interval.high - row.interval.low) / 2:.2f}"


def _percent(share: float | None) -> str:
    if share is None:
        return "-"
    whole = round(100 * share)
    if whole == 0:
        return "<1 %"
    return ">99 %" if whole == 100 else f"{whole} %"


def _unless_out(row: Standing, text: str) -> str:
    return "-" if row.status == "disqualified" else text


def ruling_words(summary: Summary, name: str) -> str:
    """Return the decision about a bot as a note; empty if there is none."""
    ruling = summary.ruling(name)
    if ruling is None:
        return ""
    if ruling.kind == "disqualified":
        return f"disqualified: {ruling.reason}; deals at which it sat count for no bot"
    deals = next(row.deals - row.forfeits for row in summary.entrants if row.name == name)
    after = f"after {counted(deals, 'deal')}"
    if ruling.kind == "benched":
        return f"benched {after}, and forfeits the rest unplayed: {ruling.reason}"
    if ruling.from_round is None:
        return f"withdrawn from {ruling.since} on: {ruling.reason}"
    return f"withdrawn {after}: {ruling.reason}"


def no_formula(name: str) -> str:
    """Return a name that spreadsheets do not take for a formula."""
    return f"'{name}" if name.startswith(_FORMULA) else name
