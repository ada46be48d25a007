"""The organiser's choices for published pages, as stored by the last run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from tourney_runner.publish.redaction import published
from tourney_runner.text import with_suit_symbols

if TYPE_CHECKING:
    from tourney_runner.results.records import FaultRecord
    from tourney_runner.results.store import Store

__all__ = ["LiveStatus", "PublishChoices", "fault_text", "kept_choices"]


class LiveStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a run, on pages that are written while it goes on."""

    done: int
    """Deals that are played and stored."""
    total: int | None
    """None if the number is not certain."""
    left: str
    """The time that is left, in words; empty if it is not known."""
    at: str
    """When this was so, ISO 8601 in UTC."""


class PublishChoices(msgspec.Struct, frozen=True, kw_only=True):
    """The choices for published pages; see `config.models.PublishConfig` for the fields."""

    title: str | None = None
    url: str | None = None
    logs: Literal["none", "first_line", "all"] = "first_line"
    debug: bool = False
    replays: int = 200
    choice: Literal["highlights", "first", "last", "spread"] = "highlights"
    live: LiveStatus | None = None
    """Only while a run goes on."""


def kept_choices(store: Store, **instead: Any) -> PublishChoices:
    """Return the choices of the tournament's configuration.

    Args:
        store: The results.
        instead: Values that take precedence, unless they are None.
    """
    kept = store.about().publish
    given = {name: value for name, value in instead.items() if value is not None}
    return msgspec.convert(kept | given, PublishChoices)


def fault_text(fault: FaultRecord, logs: str) -> str:
    """Return the part of a fault's description that may be shown.

    Args:
        fault: The fault.
        logs: ``none``: the kind alone; ``first_line``: also the first line of the cause and of
            the bot's stderr; ``all``: everything that is stored except the request.
    """
    if logs == "none":
        return ""
    cause = published(with_suit_symbols(fault.cause))
    stderr = published(fault.stderr)
    parts = [cause, stderr]
    if logs == "first_line":
        lines = [part.strip().partition("\n")[0] for part in parts]
        return "\n".join(line for line in lines if line)
    answer = f"its output: {published(fault.answer)}" if fault.answer else ""
    return "\n".join(part.rstrip() for part in (cause, answer, stderr) if part.strip())
