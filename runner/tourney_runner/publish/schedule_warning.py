"""Whether a table's deals suffice to tell its bots apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tourney_runner.ratings.model import Model
from tourney_runner.results.rulings import outcomes

if TYPE_CHECKING:
    from tourney_runner.publish.summary import Summary
    from tourney_runner.results.store import Store

__all__ = ["QUICK_DEALS", "short_schedule"]

QUICK_DEALS = 20_000
"""So many deals are looked through in about a second, 50 entrants in tables of four."""


def short_schedule(store: Store, summary: Summary, most: int | None = QUICK_DEALS) -> str | None:
    """A line of warning where the schedule is too short; None where it is not.

    Args:
        store: The results.
        summary: Their table.
        most: With more deals than that nothing is looked at, and None given; None for no bound.
    """
    if not summary.deals or (most is not None and summary.deals > most):
        return None
    if summary.final:  # not the rating decides, and there are no more rounds
        return None
    from tourney_runner.ratings.analysis import analyse  # noqa: PLC0415 - a long table must not wait for it

    facts = summary.facts
    names = [entrant.name for entrant in facts.entrants]
    _, analysis = analyse(names, outcomes(store), Model(**facts.rating), facts.update)
    return analysis.warning()
