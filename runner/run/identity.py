"""What a tournament is: all that must stay the same while it is continued.

Name, rating and a larger number of rounds may change between two runs over one folder; anything
else would mix deals that cannot be compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runner.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["check_same"]


def _flat(value: Any, path: str = "") -> dict[str, Any]:
    if isinstance(value, dict):
        pairs = [(f"{path}.{key}" if path else str(key), inner) for key, inner in value.items()]
    elif isinstance(value, list):
        pairs = [(f"{path}[{index}]", inner) for index, inner in enumerate(value)]
    else:
        return {path: value}
    flat: dict[str, Any] = {}
    for inner_path, inner in pairs:
        flat |= _flat(inner, inner_path)
    return flat


def check_same(folder: Path, before: dict[str, Any], now: dict[str, Any]) -> None:
    """Make sure that the stored identity of a tournament and today's are the same.

    Args:
        folder: For the message.
        before: As stored.
        now: As the configuration and the bots say. Both are JSON values.

    Raises:
        UsageError: They differ; the message shows where, and how to go on.
    """
    old, new = _flat(before), _flat(now)
    differences = [
        f"  {key}: was {old.get(key, 'not there')!s:.60}, is {new.get(key, 'not there')!s:.60}"
        for key in sorted(old.keys() | new.keys())
        if old.get(key) != new.get(key)
    ]
    if differences:
        shown = [*differences[:10], *(["  ..."] if len(differences) > 10 else [])]
        raise UsageError(
            f"{folder}: the results here are of another tournament; what differs:\n"
            + "\n".join(shown)
            + "\nUndo the change to continue that one, give --out another folder, or give --fresh"
            " to move it aside and begin again."
        )
