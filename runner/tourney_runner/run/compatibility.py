"""Comparison of a stored tournament with the current configuration and bots.

The name, the rating and a larger number of rounds may change between two runs over one folder, and
with a public reason the time limits of the rounds to come. Anything else would mix deals that
cannot be compared. Values are compared as this version of the program reads them, not as they are
stored. A setting that a later version added and an older record lacks therefore has the value that
stands for the older behaviour.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import msgspec

from tourney_runner.errors import UsageError
from tourney_runner.games.registry import game as find_game
from tourney_runner.play.play_settings import SIZE, TIME, PlayConfig, PlaySettings
from tourney_runner.results.tournament_record import OwnTime, TimeChange
from tourney_runner.schedule.registry import format_class
from tourney_runner.text import counted, escaped, utc_now

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from tourney_runner.play.play_settings import TimeConfig
    from tourney_runner.results.tournament_record import EntrantRecord, TournamentRecord

__all__ = ["check_same", "time_change", "with_times_of"]

_SHOWN = 10
"""Differences that are listed, and files of one bot."""
_LONGEST = 200
"""Characters of a file's name that are shown."""
_NOTATION = {"time": TIME, "limits": SIZE}
"""The notation of the amounts of a section."""
_COUNTS = frozenset({"processes"})
"""Settings in such a section that are plain numbers."""
_FOR_TIMES = (
    "Time limits can change from the next round on, with a reason that the pages show:\n"
    "  {again} --change-time REASON\n"
)


def check_same(
    folder: Path,
    before: TournamentRecord,
    now: TournamentRecord,
    changes: Callable[[str, str], Sequence[str] | None],
    again: str,
) -> None:
    """Refuse to continue a tournament whose settings or bots have changed.

    Args:
        folder: For the message.
        before: As stored.
        now: As the configuration and the bots are today.
        changes: Returns the changes of a bot, given its name and its hash of before; None if
            they can no longer be found out.
        again: The command that was given.

    Raises:
        UsageError: They differ; the message lists the differences and how to go on.
    """
    settings = list(_changed_settings(before, now))
    bots = list(_changed_bots(before.bots, now.bots, changes))
    if not settings and not bots:
        return
    differences = [*settings, *bots]
    more = len(differences) - _SHOWN
    rest = [f"and {more} more"] if more > 0 else []
    number = len(before.entrants)
    same_times = _first_times(before, number) == _first_times(now, number)
    hint = "" if same_times else _FOR_TIMES.format(again=again)
    listed = "\n".join(f"  {line}" for line in (*differences[:_SHOWN], *rest))
    if settings:
        head = "the results here are of a tournament with other settings"
    else:
        head = f"{counted(len(bots), 'difference')} in the bots since this tournament was begun"
    raise UsageError(
        f"{folder}: {head}:\n{listed}\n{_for_bots(before.bots, now.bots, again)}{hint}"
        "Undo the change to continue, give --out another folder, or give --fresh to move these"
        " results aside and begin again."
    )


def time_change(
    before: TournamentRecord, configured: TournamentRecord, first_round: int, reason: str
) -> TimeChange | None:
    """Return the change from the time limits in force to the configured ones; None without one.

    Args:
        before: As stored.
        configured: As configured now.
        first_round: The first round, from 0, that is played under the new limits.
        reason: The reason, for the public.
    """
    was, now = PlaySettings.of(before), PlaySettings.of(configured)
    own_before = _last_own_times(was)
    own = {
        bot.number: bot.time or OwnTime()
        for bot in configured.entrants
        if bot.number < len(before.entrants)
        and (bot.time or OwnTime()) != own_before.get(bot.number, OwnTime())
    }
    if not own and now.time == _last_time(was):
        return None
    return TimeChange(
        first_round=first_round,
        **now.time.model_dump(),
        own=own,
        reason=reason,
        at=utc_now(),
    )


def with_times_of(
    before: TournamentRecord, configured: TournamentRecord, changes: tuple[TimeChange, ...]
) -> TournamentRecord:
    """Return a configured tournament with its time limits as they were first, and their changes.

    The configured limits that differ from those after all changes are kept, so that `check_same`
    refuses them.
    """
    last = PlaySettings.of(msgspec.structs.replace(before, time_changes=changes))
    now = PlaySettings.of(configured)
    own = _last_own_times(last)
    limits, play = configured.limits, configured.play
    if now.time == _last_time(last):
        play = play | last.time.model_dump()
        limits = before.limits
    entrants = tuple(
        msgspec.structs.replace(bot, time=before.entrants[bot.number].time)
        if bot.number < len(before.entrants)
        and (bot.time or OwnTime()) == own.get(bot.number, OwnTime())
        else bot
        for bot in configured.entrants
    )
    return msgspec.structs.replace(
        configured, play=play, limits=limits, entrants=entrants, time_changes=changes
    )


def _first_times(record: TournamentRecord, number: int) -> tuple[object, ...]:
    """Return the time limits before all changes, of the tournament and of its first entrants."""
    return PlaySettings.of(record).time, *(
        bot.time or OwnTime() for bot in record.entrants[:number]
    )


def _last_time(settings: PlaySettings) -> TimeConfig:
    """Return the tournament's time limits after all changes."""
    return settings.time_of(sys.maxsize, -1)


def _last_own_times(settings: PlaySettings) -> dict[int, OwnTime]:
    """Return the bots' own time limits after all changes, by entrant."""
    own = dict(settings.own_times)
    for change in settings.time_changes:
        own |= change.own
    return own


def _for_bots(
    before: Mapping[str, EntrantRecord], now: Mapping[str, EntrantRecord], again: str
) -> str:
    """Explain how to go on with changes of bots."""
    lines = ""
    if before.keys() - now.keys():
        lines += "A bot can leave: tourney withdraw.\n"
    if any(bot.hash != now[name].hash for name, bot in before.items() if name in now):
        lines += (
            "To enter every changed bot as a new version beside the old one (or one bot, with"
            f" --add FOLDER instead):\n  {again} --new-versions\n"
        )
    return lines


def _changed_settings(before: TournamentRecord, now: TournamentRecord) -> Iterator[str]:
    old, new = _settings(before), _settings(now)
    if old["game"] != new["game"]:
        yield _change("game", old["game"], new["game"])
        return
    for key in sorted(old.keys() | new.keys()):
        if old.get(key) != new.get(key):
            yield _change(key, old.get(key), new.get(key))
    if before.rounds is not None and now.rounds is not None and before.rounds > now.rounds:
        yield f"{_change('schedule.rounds', before.rounds, now.rounds)}; they may only become more"


def _settings(record: TournamentRecord) -> dict[str, Any]:
    """Return the settings that may not change, by configuration key."""
    settings = {
        "seed": "secret" if record.seed.secret else record.seed.value,
        "game": record.game,
        "bench_after": record.bench_after,
        "clock": record.clock,
        "sandbox": record.sandbox,
        "build_network": record.build_network,
        **{f"rules.{key}": value for key, value in _rules(record).items()},
        **{f"schedule.{key}": value for key, value in _schedule(record).items()},
    }
    return settings | dict(_play(PlaySettings.of(record)))


def _play(play: PlaySettings) -> Iterator[tuple[str, Any]]:
    """Yield the settings of play as a configuration has them."""
    for section in ("match", *_NOTATION):
        for key, value in getattr(play, section).model_dump(by_alias=True).items():
            notation = None if key in _COUNTS or value is None else _NOTATION.get(section)
            yield f"{section}.{key}", notation.written(value) if notation else value
    yield "match.duplicate", play.match.duplicate or False
    for key in PlayConfig.model_fields.keys() - _NOTATION.keys():
        yield key, getattr(play, key)


def _rules(record: TournamentRecord) -> dict[str, Any]:
    return find_game(record.game).options.stored(record.rules).in_force()


def _schedule(record: TournamentRecord) -> dict[str, Any]:
    if record.schedule is None:
        return {}
    name = record.schedule.format
    options = format_class(name).options.model_validate(record.schedule.options)
    values: dict[str, Any] = options.model_dump(mode="json", exclude={"rounds"})
    return {"format": name, **values}


def _listed(changes: Sequence[str] | None) -> str:
    """Return the changes of a bot in a line."""
    if changes is None:
        return (
            "its files, its command, its build or its env (the copy of the earlier version is no"
            " longer in the cache to compare with)"
        )
    more = len(changes) - _SHOWN
    rest = [f"and {more} more"] if more > 0 else []
    return ", ".join([*(escaped(change, _LONGEST) for change in changes[:_SHOWN]), *rest])


def _change(key: str, was: Any, is_now: Any) -> str:
    return f"{key}: was {_written(was)}, is {_written(is_now)}"


def _written(value: Any) -> str:
    """Return a value as a configuration has it, cut to a readable length."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"{text:.60}"


def _changed_bots(
    before: Mapping[str, EntrantRecord],
    now: Mapping[str, EntrantRecord],
    changes: Callable[[str, str], Sequence[str] | None],
) -> Iterator[str]:
    for name in sorted(before.keys()):  # a bot that is only in `now` joins, see `run.entrants`
        if name not in now:
            yield f"the bot {name!r} is no longer there"
            continue
        old, new = before[name], now[name]
        if old.hash != new.hash:
            yield f"the bot {name!r} has changed: {_listed(changes(name, old.hash))}"
        elif old.number != new.number:
            yield f"the bot {name!r} was entrant {old.number + 1}, is entrant {new.number + 1}"
        elif old.team != new.team:
            teams = [bot.team or "none" for bot in (old, new)]
            yield f"the team of the bot {name!r} was {teams[0]}, is {teams[1]}"
        elif (old.time or OwnTime()) != (new.time or OwnTime()):
            times = [str(bot.time or "the tournament's") for bot in (old, new)]
            yield f"the time of the bot {name!r} was {times[0]}, is {times[1]}"
        elif old.rights is not None and old.rights != new.rights:
            yield f"the bot {name!r} was granted other rights"
