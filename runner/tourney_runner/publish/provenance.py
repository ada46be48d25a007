"""The conditions of a tournament, a recipe to play it again, and what is not published."""

from __future__ import annotations

import json
import os
import re
from functools import cache
from typing import TYPE_CHECKING, Any

import yaml

from tourney_runner.games import registry as games
from tourney_runner.play.play_settings import TIME, PlaySettings
from tourney_runner.process.installations import home_folder, managed_installations
from tourney_runner.text import counted, moment, pairs, printable

if TYPE_CHECKING:
    from tourney_runner.publish.summary import Summary
    from tourney_runner.results.tournament_record import EntrantRecord, TournamentRecord

__all__ = [
    "fact_rows",
    "game_title",
    "last_day",
    "published",
    "recipe",
    "schedule_words",
    "short_paths",
]


_STAGED = re.compile(r"(?:/[^\s'\":(),;<>]+)?/bots/[0-9a-f]{32}/bot(?:/|\b)")
"""The folder of a staged copy in any cache."""
_GRANTED = re.compile(r"(?<![^\s\"'(])/(?!dev/)(?:[^\s/]+/)*([^\s/]+)")


def published(text: str) -> str:
    """Return a text with control characters as escapes and without the folders of a machine.

    Files of a bot are named relative to its folder, those of an interpreter by the name of its
    installation, and others in the organiser's home with ``~``.
    """
    text = _STAGED.sub("", printable(text))
    for folder, name in _known_folders():
        text = text.replace(folder, name)
    return re.sub(r"/home/[^/\s'\":]+", "~", text)


def short_paths(text: str) -> str:
    """Return a list of granted paths with the last part of each; devices stay whole."""
    return _GRANTED.sub(r"\1", printable(text))


@cache
def _known_folders() -> tuple[tuple[str, str], ...]:
    """Return folders and their replacements, the longest first."""
    trees = sorted(managed_installations(), key=len, reverse=True)
    names = [(tree, os.path.basename(tree)) for tree in trees if not tree.startswith("/usr")]  # noqa: PTH119 - text like all here
    home = home_folder()
    return (*names, *([(home, "~")] if home.count("/") > 1 or home == "/root" else []))


_PLAIN = ("on_fault", "max_faults", "restart", "strict", "ponder", "reveal_names")
_MAX_MOVES = 5000
"""The default of `max_moves`, which is left out, as it was before that setting existed."""


def game_title(name: str) -> str:
    """Return the title of a game, or its key if it is no longer installed."""
    return games.game(name).title if games.exists(name) else name


def schedule_words(facts: TournamentRecord) -> str:
    """Return the format of a tournament and its number of rounds: ``round robin, 6 rounds``."""
    name = "" if facts.schedule is None else facts.schedule.format.replace("-", " ")
    rounds = facts.rounds
    return ", ".join(part for part in (name, counted(rounds, "round") if rounds else "") if part)


def last_day(facts: TournamentRecord) -> str:
    """Return the day on which a tournament ended, or began if it goes on; ISO 8601, UTC."""
    return ((facts.ended if facts.complete else facts.began) or "")[:10]


def fact_rows(summary: Summary) -> list[tuple[str, str]]:
    """Return names of facts and their values, as text."""
    facts = summary.facts
    rows = (
        ("game", game_title(facts.game)),
        ("players at a table", str(facts.rules["players"])),
        ("rules that differ", pairs(facts.differing) or "none; all as usual"),
        ("limits", facts.limits),
        ("own time limits", facts.own_times),
        ("sandbox", facts.conditions.protection.replace(" | ", " · ")),
        ("granted", _granted(facts)),
        ("clock", facts.conditions.clock),
        ("ratings", _rating(facts)),
        ("seed", _seed(summary)),
        ("began", moment(facts.began)),
        ("ended", moment(facts.ended) if summary.complete else ""),
        ("played with", f"tourney {facts.conditions.version}"),
    )
    # Some values are stored with their name in front, as the terminal shows them.
    return [(name, value.removeprefix(f"{name}: ")) for name, value in rows if value]


def recipe(summary: Summary) -> str:
    """Return a configuration that plays the same deals, without the paths of the bots' folders."""
    facts = summary.facts
    play = PlaySettings.of(facts)
    document = {
        "name": facts.name,
        "game": facts.game,
        "seed": "secret" if summary.seed is None else summary.seed,
        "rules": {"players": facts.rules["players"], **facts.differing},
        "schedule": _schedule(facts),
        "match": _match(play),
        "time": {
            "start": TIME.written(play.time.start_ms),
            "move": TIME.written(play.time.move_ms),
            "bank": TIME.written(play.time.bank_ms),
        },
        **{key: getattr(play, key) for key in _PLAIN},
        **({} if play.max_moves == _MAX_MOVES else {"max_moves": play.max_moves}),
        "clock": facts.clock,
    }
    lines = [
        yaml.safe_dump(
            document, sort_keys=False, allow_unicode=True, default_flow_style=None, width=88
        ).rstrip(),
        "bots:  # in this order and under these names; the hashes are of their files",
        *(
            f"  - {{bot: .., name: {_quoted(bot.name)}{_grants(facts, bot)}}}  # {bot.digits[:16]}"
            for bot in facts.entrants
        ),
    ]
    return "\n".join(lines)


def _granted(facts: TournamentRecord) -> str:
    """Return the additional rights of bots, if the organiser has granted any."""
    return "; ".join(
        f"{bot.name}: {short_paths(bot.granted)}" for bot in facts.entrants if bot.granted
    )


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _grants(facts: TournamentRecord, bot: EntrantRecord) -> str:
    """Return the rest of a bot's entry in a configuration, besides its folder and its name."""
    anchor = facts.anchor
    anchored = f", anchor: {anchor.mu:g}" if anchor and anchor.name == bot.name else ""
    return f"{_team(bot)}{_time(bot)}{anchored}"


def _time(bot: EntrantRecord) -> str:
    """Return a bot's own time limits as a part of its entry in a configuration."""
    if not bot.time:
        return ""
    names = {"start": bot.time.start_ms, "move": bot.time.move_ms, "bank": bot.time.bank_ms}
    parts = [f"{key}: {TIME.written(ms)}" for key, ms in names.items() if ms is not None]
    return f", time: {{{', '.join(parts)}}}"


def _team(bot: EntrantRecord) -> str:
    return f", team: {_quoted(bot.team)}" if bot.team else ""


def _schedule(facts: TournamentRecord) -> dict[str, Any]:
    if facts.schedule is None:
        return {}
    rounds = {"rounds": facts.rounds} if facts.rounds else {}
    return {"format": facts.schedule.format, **facts.schedule.options, **rounds}


def _match(play: PlaySettings) -> dict[str, Any]:
    if play.match.duplicate:
        return {"duplicate": play.match.duplicate}
    given = {"deals": play.match.deals, "target": play.match.target}
    return {
        "duplicate": False,
        **{key: value for key, value in given.items() if value is not None},
    }


def _rating(facts: TournamentRecord) -> str:
    how = {
        "order_free": "by all deals at once, whatever their order",
        "sequential": "deal by deal in the order of the schedule",
        "through_time": "Through Time, by all rounds at once",
    }[facts.update]
    constants = ", ".join(f"{key} {value:.4g}" for key, value in facts.rating.items())
    anchor = facts.anchor
    anchored = f"; {anchor.name} is fixed at {anchor.mu:g}" if anchor else ""
    return f"TrueSkill {how}; {constants}{anchored}"


def _seed(summary: Summary) -> str:
    parts = [_shown_seed(summary.seed, summary.seed_sha256)]
    parts += [
        f"from round {one.first_round + 1}: {_shown_seed(one.seed, one.sha256)}"
        for one in summary.later_seeds
    ]
    return "; ".join(parts)


def _shown_seed(seed: int | str | None, sha256: str) -> str:
    return f"sealed until the tournament is closed; SHA-256 {sha256}" if seed is None else str(seed)
