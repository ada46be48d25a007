"""What a reader must know to trust a ranking: how it was played, and how to play it again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import yaml

from tourney_runner.config.field_types import TIME
from tourney_runner.games import registry as games
from tourney_runner.text import counted, moment, pairs

if TYPE_CHECKING:
    from tourney_runner.publish.summary import Facts, Summary
    from tourney_runner.results.store import Store

__all__ = ["fact_rows", "game_title", "last_day", "recipe", "schedule_words"]

_PLAIN = ("on_fault", "max_faults", "restart", "strict", "ponder", "clock", "reveal_names")


def game_title(name: str) -> str:
    """What people call a game; its key, where it is not installed any more."""
    return games.game(name).title if name in games.names() else name


def schedule_words(store: Store) -> str:
    """Return the format of a tournament and its number of rounds: ``round robin, 6 rounds``."""
    identity: dict[str, Any] = store.meta("identity") or {}
    name = str(identity.get("schedule", {}).get("format", "")).replace("-", " ")
    rounds = identity.get("rounds")
    return ", ".join(part for part in (name, counted(rounds, "round") if rounds else "") if part)


def last_day(summary: Summary, store: Store) -> str:
    """Return the day on which a tournament ended, or began if it goes on; ISO 8601, UTC."""
    at = store.meta("ended" if summary.complete else "began")
    return str(at or "")[:10]


def fact_rows(summary: Summary, store: Store) -> list[tuple[str, str]]:
    """Names of facts and their values, as text."""
    facts = summary.facts
    began, ended = store.meta("began"), store.meta("ended")
    rows = (
        ("game", game_title(facts.game)),
        ("players at a table", str(facts.rules["players"])),
        ("rules that differ", pairs(facts.differing) or "none; all as usual"),
        ("limits", facts.limits),
        ("sandbox", facts.protection.replace(" | ", " · ")),
        ("granted", _granted(facts)),
        ("clock", facts.clock),
        ("ratings", _rating(facts)),
        ("seed", _seed(summary)),
        ("began", moment(began)),
        ("ended", moment(ended) if summary.complete else ""),
        ("played with", f"tourney {facts.version}"),
    )
    # Some values are kept with their name before them, as the terminal shows them.
    return [(name, value.removeprefix(f"{name}: ")) for name, value in rows if value]


def recipe(summary: Summary, store: Store) -> str:
    """A configuration that plays the same deals, but for the places of the bots' folders."""
    identity: dict[str, Any] = store.meta("identity") or {}
    facts = summary.facts
    schedule = dict(identity.get("schedule", {}))
    if rounds := identity.get("rounds"):
        schedule["rounds"] = rounds
    document = {
        "name": facts.name,
        "game": facts.game,
        "seed": "secret" if summary.seed is None else summary.seed,
        "rules": {"players": facts.rules["players"], **facts.differing},
        "schedule": schedule,
        "match": _match(identity.get("match", {})),
        "time": {
            key.removesuffix("_ms"): TIME.written(value)
            for key, value in identity.get("time", {}).items()
        },
        **{key: identity[key] for key in _PLAIN if key in identity},
    }
    lines = [
        yaml.safe_dump(
            document, sort_keys=False, allow_unicode=True, default_flow_style=None, width=88
        ).rstrip(),
        "bots:  # in this order and under these names; the hashes are of their files",
        *(
            f"  - {{bot: .., name: {_quoted(bot.name)}{_team(identity, bot.name)}}}"
            f"  # {bot.hash[:16]}"
            for bot in facts.entrants
        ),
    ]
    return "\n".join(lines)


def _granted(facts: Facts) -> str:
    """What bots may do beyond playing, where the organiser has granted any of them more."""
    return "; ".join(f"{bot.name}: {bot.rights}" for bot in facts.entrants if bot.rights)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _team(identity: dict[str, Any], name: str) -> str:
    team = identity.get("bots", {}).get(name, {}).get("team")
    return f", team: {_quoted(team)}" if team else ""


def _match(match: dict[str, Any]) -> dict[str, Any]:
    if match.get("duplicate"):
        return {"duplicate": match["duplicate"]}
    given = {key: value for key, value in match.items() if key != "duplicate" and value is not None}
    return {"duplicate": False, **given}


def _rating(facts: Facts) -> str:
    how = {
        "order_free": "by all deals at once, whatever their order",
        "sequential": "deal by deal in the order of the schedule",
    }[facts.update]
    constants = ", ".join(f"{key} {value:.4g}" for key, value in facts.rating.items())
    return f"TrueSkill {how}; {constants}"


def _seed(summary: Summary) -> str:
    if summary.seed is None:
        return f"secret until the tournament is over; its SHA-256 is {summary.seed_sha256}"
    return str(summary.seed)
