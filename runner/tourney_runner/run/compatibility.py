"""What a tournament is: all that must stay the same while it is continued.

Name, rating and a larger number of rounds may change between two runs over one folder; anything
else would mix deals that cannot be compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tourney_runner.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["check_same"]

_SHOWN = 10
"""Differences that are listed."""
_LATER = frozenset({"bench_after", "build_network", "limits.deal_output", "sandbox"})
"""Settings that results of earlier versions do not hold; what they were is not known."""


def check_same(folder: Path, before: dict[str, Any], now: dict[str, Any]) -> None:
    """Make sure that the stored identity of a tournament and today's are the same.

    Args:
        folder: For the message.
        before: As stored.
        now: As the configuration and the bots say. Both are JSON values, with each bot's number,
            hash, team and rights by name under ``bots``, and the number of rounds under ``rounds``.

    Raises:
        UsageError: They differ; the message shows where, and how to go on.
    """
    differences = [*_changed_settings(before, now), *_changed_bots(before["bots"], now["bots"])]
    if differences:
        more = len(differences) - _SHOWN
        rest = [f"and {more} more"] if more > 0 else []
        listed = "\n".join(f"  {line}" for line in (*differences[:_SHOWN], *rest))
        raise UsageError(
            f"{folder}: the results here are of another tournament; what differs:\n{listed}\n"
            f"{_for_bots(before['bots'], now['bots'])}"
            "Undo the change to continue that one, give --out another folder, or give --fresh"
            " to move it aside and begin again."
        )


def _for_bots(before: dict[str, Any], now: dict[str, Any]) -> str:
    """How to go on with changes that are only of bots."""
    if before.keys() - now.keys():
        return "A bot can leave: tourney withdraw.\n"
    if any(facts["hash"] != now[name]["hash"] for name, facts in before.items()):
        return "Give --new-versions to have changed bots join beside what they were before.\n"
    return ""


def _changed_settings(before: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    old, new = _flat(before), _flat(now)
    for key in sorted(old.keys() | new.keys() - _LATER):
        was, is_now = old.get(key, "not there"), new.get(key, "not there")
        if key == "rounds":
            if was is not None and is_now is not None and was > is_now:
                yield f"schedule.rounds: was {was}, is {is_now}; they may only become more"
        elif was != is_now:
            yield f"{key}: was {was!s:.60}, is {is_now!s:.60}"


def _changed_bots(before: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    for name in sorted(before.keys() | now.keys()):
        if name not in now:
            yield f"the bot {name!r} is no longer there"
        elif name not in before:
            continue  # it may join, see `run.field`
        elif before[name]["hash"] != now[name]["hash"]:
            yield f"the bot {name!r} has changed: its files, its command, its build or its env"
        elif before[name]["number"] != now[name]["number"]:
            was, is_now = before[name]["number"] + 1, now[name]["number"] + 1
            yield f"the bot {name!r} was entrant {was}, is entrant {is_now}"
        elif before[name].get("team") != now[name].get("team"):
            teams = [facts.get("team") or "none" for facts in (before[name], now[name])]
            yield f"the team of the bot {name!r} was {teams[0]}, is {teams[1]}"
        elif before[name].get("rights", now[name]["rights"]) != now[name]["rights"]:
            yield f"the bot {name!r} was granted other rights"


def _flat(value: Any, path: str = "") -> dict[str, Any]:
    """All values but the bots, by their paths in the configuration."""
    if isinstance(value, dict):
        pairs = [
            (f"{path}.{key}" if path else str(key), inner)
            for key, inner in value.items()
            if path or key != "bots"
        ]
    elif isinstance(value, list):
        pairs = [(f"{path}[{index}]", inner) for index, inner in enumerate(value)]
    else:
        return {path: value}
    flat: dict[str, Any] = {}
    for inner_path, inner in pairs:
        flat |= _flat(inner, inner_path)
    return flat
