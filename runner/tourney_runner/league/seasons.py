"""The seasons of a league: folders of results beside its configuration."""

from __future__ import annotations

import json
import re
from contextlib import closing
from typing import TYPE_CHECKING

import msgspec

from tourney_runner.atomic_write import write_whole
from tourney_runner.decisions.sanctions import public_reason, rule, undo
from tourney_runner.errors import UsageError
from tourney_runner.league.changes import Seen, changes, seen, text
from tourney_runner.league.league_setup import League
from tourney_runner.publish.events import log_events, make_event, write_feed
from tourney_runner.publish.publish_options import kept_choices
from tourney_runner.publish.site_folder import SITE_FOLDER
from tourney_runner.publish.summary import summarise
from tourney_runner.results.rulings import decision_about
from tourney_runner.results.store import FILE_NAME, Store
from tourney_runner.run.tournament import RunOptions, run
from tourney_runner.run.tournament_setup import stored_text_seed
from tourney_runner.text import shown

if TYPE_CHECKING:
    from pathlib import Path

    from tourney_runner.config import Config
    from tourney_runner.league.changes import Changes
    from tourney_runner.publish.summary import Summary
    from tourney_runner.run.progress import Reporter

__all__ = [
    "SEASONS",
    "bar",
    "barred_bots",
    "current",
    "play_season",
    "season_choices",
    "season_folders",
    "season_summary",
    "stored_text_seed_of",
]

SEASONS = "seasons"
"""The folder of seasons, beside the configuration."""
_NOT_ENTERED = "no longer entered"
_BARRED = "disqualified.json"
"""The bots that are disqualified in all seasons, with the reasons."""
_SEEN = "seen"
"""The key of the table that the last report of changes was about."""


def season_folders(league: Path) -> list[Path]:
    """Return the folders of a league's seasons in the order in which they began."""
    found = []
    for database in (league.parent / SEASONS).glob(f"*/{FILE_NAME}"):
        with closing(Store(database)) as store:
            record = store.tournament_if_begun()
            if record is not None and record.began:
                found.append((record.began, database.parent.name, database.parent))
    return [folder for _, _, folder in sorted(found)]


def current(league: Path) -> str:
    """Return the name of the season that began last; ``1`` before the first."""
    folders = season_folders(league)
    return folders[-1].name if folders else "1"


def stored_text_seed_of(league: Path, season: str) -> str | None:
    """Return the league's seed in words, if an earlier version began a season with it.

    Args:
        league: The configuration.
        season: The name of the season.
    """
    seed = stored_text_seed(league.parent / SEASONS / season)
    return None if seed is None else seed.removesuffix(f"/{season}")


def season_choices(  # noqa: PLR0913 - each is a choice of the organiser
    league: Path,
    season: str,
    *,
    again: str,
    jobs: int | None,
    reopen: bool = False,
    migrate: bool = True,
) -> RunOptions:
    """Return the options of a season: broken bots are left out, changed ones are new versions.

    Raises:
        UsageError: The name is not allowed.
    """
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,60}", season):
        raise UsageError(f"{shown(season)} cannot name a season: use letters, digits, - _ and .")
    return RunOptions(
        folder=league.parent / SEASONS / season,
        again=again,
        jobs=jobs,
        out_option=False,
        skip_broken=True,
        new_versions=True,
        reopen=reopen,
        migrate=migrate,
    )


def play_season(config: Config, choices: RunOptions, reporter: Reporter) -> tuple[Summary, Changes]:
    """Play what is new in a season: bots, versions, rounds.

    Bots that the configuration no longer enters are withdrawn; they play on when they are entered
    again. A closed season is not changed. The changes are reported once, in ``changes.json`` and
    ``changes.txt`` beside the results; a run that is killed before that leaves them to the next.

    Args:
        config: The configuration of the league.
        choices: See `season_choices`.
        reporter: Gets the progress.

    Raises:
        UsageError: Nothing was played.
        RunError: The run failed; it can be continued.
        Interrupted: A signal came; the run can be continued.
    """
    season = choices.folder.name
    named = config.model_copy(
        update={
            "name": f"{config.name}, season {season}",
            "seed": None if config.seed is None else f"{config.seed}/{season}",
        }
    )
    barred = barred_bots(choices.folder.parent)
    there = _stored_bots(choices.folder)
    out = [bot.name for bot in named.entrants if bot.name in barred and bot.name not in there]
    for name in out:
        reporter.say(f"{name} is left out, disqualified in this league: {barred[name]}")
    left = (bot for bot in named.entrants if bot.name not in out)
    named = named.model_copy(
        update={
            "entrants": tuple(
                bot.model_copy(update={"number": number}) for number, bot in enumerate(left)
            )
        }
    )
    if choices.reopen or not _is_closed(choices.folder):
        _follow_entries(config, choices.folder, migrate=choices.migrate)
    summary = run(named, choices, reporter)
    return summary, _tell(choices.folder, summary)


def barred_bots(seasons: Path) -> dict[str, str]:
    """Return the reasons for which bots are disqualified in all seasons, by name.

    Args:
        seasons: The folder of seasons.

    Raises:
        UsageError: The file that lists them cannot be read.
    """
    path = seasons / _BARRED
    if not path.exists():
        return {}
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, str])
    except (OSError, msgspec.DecodeError) as error:
        raise UsageError(f"{path}: cannot be read ({error}); restore it or delete it") from error


def bar(league: Path, name: str, reason: str | None, *, migrate: bool = True) -> list[str]:
    """Disqualify a bot in all seasons of a league, also in those to come, or undo that.

    Args:
        league: The configuration.
        name: The bot, as the configuration names it.
        reason: The reason, which is published; None to undo.
        migrate: Whether results of an earlier version may be converted.

    Returns:
        A line for each season that was changed.

    Raises:
        UsageError: There is no such bot, no reason, or nothing to undo.
        RunError: The disk fails.
    """
    seasons = league.parent / SEASONS
    barred = barred_bots(seasons)
    if reason is None and name not in barred:
        raise UsageError(f"{league}: the bot {shown(name)} is not disqualified in all seasons")
    sentence = barred[name] if reason is None else public_reason(reason)
    played = [(folder, bot) for folder in season_folders(league) for bot in _versions(folder, name)]
    if not played and League(league).entry(name) is None:
        raise UsageError(f"{league}: there is no bot {shown(name)} in this league")
    lines = []
    for folder, bot in played:
        with closing(Store(folder / FILE_NAME)) as store:
            decision = decision_about(store, store.tournament().bots[bot].number)
        if reason is not None:
            _, line = rule(folder, "disqualified", bot, sentence, migrate=migrate)
        elif decision is not None and decision.reason == sentence:
            _, line = undo(folder, "disqualified", bot, migrate=migrate)
        else:
            continue
        lines.append(f"season {folder.name}: {line}")
    barred = {bot: why for bot, why in barred.items() if bot != name}
    barred |= {} if reason is None else {name: sentence}
    seasons.mkdir(exist_ok=True)
    document = json.dumps(barred, indent=2, ensure_ascii=False)
    write_whole(seasons / _BARRED, f"{document}\n")
    return lines


def _stored_bots(folder: Path) -> frozenset[str]:
    """Return the configured names of the bots that play in a season."""
    if not (folder / FILE_NAME).is_file():
        return frozenset()
    with closing(Store(folder / FILE_NAME)) as store:
        record = store.tournament_if_begun()
    if record is None:
        return frozenset()
    return frozenset(record.versions.get(name, name) for name in record.names)


def _versions(folder: Path, name: str) -> list[str]:
    """Return the names of all versions of a bot in a season."""
    with closing(Store(folder / FILE_NAME)) as store:
        record = store.tournament()
    return [bot for bot in record.names if record.versions.get(bot, bot) == name]


def _is_closed(folder: Path) -> bool:
    if not (folder / FILE_NAME).is_file():
        return False
    with closing(Store(folder / FILE_NAME)) as store:
        record = store.tournament_if_begun()
    return record is not None and record.closed is not None


def _follow_entries(config: Config, folder: Path, *, migrate: bool) -> None:
    """Withdraw bots that are no longer entered, and undo that for those that are again."""
    if not (folder / FILE_NAME).is_file():
        return
    entered = {entrant.name for entrant in config.entrants}
    entered |= {bot.name for bot in config.skipped}
    with closing(Store(folder / FILE_NAME)) as store:
        record = store.tournament_if_begun()
        bots = {} if record is None else record.bots
        versions = {} if record is None else record.versions
        about = {name: decision_about(store, bot.number) for name, bot in bots.items()}
    for name, decision in about.items():
        here = versions.get(name, name) in entered
        if decision is None and not here:
            rule(folder, "withdrawn", name, _NOT_ENTERED, migrate=migrate)
        elif decision is not None and decision.reason == _NOT_ENTERED and here:
            undo(folder, "withdrawn", name, migrate=migrate)


def _tell(folder: Path, summary: Summary) -> Changes:
    with closing(Store(folder / FILE_NAME, create=True)) as store:
        kept = store.note(_SEEN)
        news = changes(None if kept is None else msgspec.convert(kept, Seen), summary)
        document = json.dumps(msgspec.to_builtins(news), indent=2, ensure_ascii=False)
        write_whole(folder / "changes.json", f"{document}\n")
        write_whole(folder / "changes.txt", f"{text(news)}\n")
        if news.deals or news.moves or news.faults or news.rulings:
            _log_changes(folder, store, news, summary)
        store.keep_note(_SEEN, msgspec.to_builtins(seen(summary)))
    return news


def _log_changes(folder: Path, store: Store, news: Changes, summary: Summary) -> None:
    """Log the changes as an event, and add them to the feed of the season's site."""
    record = store.about()
    # The same changes get the same id if a run is killed before it stores that they are reported.
    details = msgspec.to_builtins(news) | {"deals_in_all": summary.deals}
    log_events(store, make_event(store, "changed", record.ended, text(news), details=details))
    choices = kept_choices(store)
    write_feed(folder / SITE_FOLDER, store, choices.title or record.name, choices.url)


def season_summary(folder: Path) -> tuple[Summary, dict[str, str]]:
    """Return a season's table, and the configured names of new versions."""
    with closing(Store(folder / FILE_NAME)) as store:
        return summarise(store), dict(store.about().versions)
