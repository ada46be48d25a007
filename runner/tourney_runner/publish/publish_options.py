"""What the organiser wants to show, as kept in the results by the last run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from tourney_runner.publish.redaction import published
from tourney_runner.text import with_suit_symbols

if TYPE_CHECKING:
    from tourney_runner.results.records import FaultRecord
    from tourney_runner.results.store import Store

__all__ = ["PublishChoices", "fault_text", "kept_choices"]


class PublishChoices(msgspec.Struct, frozen=True, kw_only=True):
    """See `config.models.PublishConfig`, whose fields these are."""

    title: str | None = None
    logs: Literal["none", "first_line", "all"] = "first_line"
    debug: bool = False
    replays: int = 200
    choice: Literal["highlights", "first", "last", "spread"] = "highlights"


def kept_choices(store: Store, **instead: Any) -> PublishChoices:
    """The choices of the tournament's configuration.

    Args:
        store: The results.
        instead: Values that go before them; those that are None do not.
    """
    kept = store.about().publish
    given = {name: value for name, value in instead.items() if value is not None}
    return msgspec.convert(kept | given, PublishChoices)


def fault_text(fault: FaultRecord, logs: str) -> str:
    """As much of a fault as may be shown.

    Args:
        fault: What happened.
        logs: ``none``: the kind alone; ``first_line``: also the first line of the cause and of
            what the bot wrote to stderr; ``all``: everything that is kept but the request.
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
