"""Loading of a tournament's file or a single bot's folder, with all errors at once."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from tourney_runner.config.bot_entries import Candidate, EntryReader
from tourney_runner.config.field_types import checked_seed, folded
from tourney_runner.config.models import (
    Config,
    MatchFile,
    PublishConfig,
    RatingConfig,
    RunConfig,
    ScheduleConfig,
    Settings,
    SkippedBot,
)
from tourney_runner.config.paths import bundled, bundled_names
from tourney_runner.config.validation import NOWHERE, Mark, Path, Problem, Problems, read
from tourney_runner.config.yaml_document import Document, load_document
from tourney_runner.errors import ConfigError, UsageError
from tourney_runner.games import registry as games
from tourney_runner.play.play_settings import LimitsConfig, MatchConfig, TimeConfig
from tourney_runner.schedule import registry as formats
from tourney_runner.schedule.base import Field, OptionError
from tourney_runner.text import escaped, listed, nearest, shown

if TYPE_CHECKING:
    from pydantic import BaseModel

    from tourney_runner.config.models import Entrant
    from tourney_runner.games.base import Game, GameOptions

__all__ = ["load_config", "read_bot"]

_SECTIONS: dict[str, type[BaseModel]] = {
    "match": MatchFile,
    "time": TimeConfig,
    "rating": RatingConfig,
    "limits": LimitsConfig,
    "publish": PublishConfig,
}
_APART = frozenset({"bots", "game", "rules", "schedule"})
"""Keys whose models depend on their own or other values."""


def load_config(
    path: FilePath,
    *,
    seed: int | str | None = None,
    earlier_seed: str | None = None,
    skip_broken: bool = False,
    growing: bool = False,
) -> Config:
    """Read a tournament's file and the ``bot.yaml`` files that it names.

    Args:
        path: The file; if it is not there, a bundled configuration of that name.
        seed: Replaces the file's seed; ``secret`` for none.
        earlier_seed: A seed in words that an earlier version took, and with which the results
            to be continued were begun. Only that one is accepted.
        skip_broken: Leave out bots whose entry, ``bot.yaml`` or program is wrong, and name them in
            `Config.skipped`, instead of refusing the file.
        growing: Accept too few bots for a table, even none: others will join, or a person plays.

    Raises:
        ConfigError: The file is wrong; the error lists every problem with file, line and column.
        UsageError: `seed` is neither a number nor ``secret``.
    """
    given = _given_seed(seed, earlier_seed)
    found = _find(path)
    problems = Problems(str(found))
    document = load_document(found, str(found), problems)
    if document is None or not _is_mapping(document):
        raise ConfigError(problems.lines())
    if earlier_seed is not None and _written(document, ("seed",)) == earlier_seed:
        document.data.pop("seed")
        given = earlier_seed if given is None else given
    game = _game(document)
    options = read(game.options, document, ("rules",)) if game else None
    settings = read(
        Settings, document, (), skip=_APART, known=sorted(_APART), hints=_misplaced(game)
    )
    schedule = _schedule(document)
    match = _match(document, settings, options)
    candidates, skipped = _candidates(
        document,
        found,
        seats=None if options is None or growing else options.players,
        skip_broken=skip_broken,
    )
    if schedule is not None and options is not None and not problems:
        _check_playable(document, schedule, options.players, candidates)
    if (
        problems
        or settings is None
        or game is None
        or options is None
        or schedule is None
        or match is None
    ):
        raise ConfigError(problems.lines())
    return Config(
        path=found,
        name=settings.name or found.stem,
        game=game.name,
        options=options,
        seed=_known(settings.seed if given is None else given),
        entrants=tuple(
            candidate.entrant.model_copy(update={"number": number})
            for number, candidate in enumerate(candidates)
        ),
        schedule=schedule,
        match=match,
        skipped=skipped,
        **{name: getattr(settings, name) for name in RunConfig.model_fields},
    )


def read_bot(folder: FilePath, *, name: str | None = None) -> Entrant:
    """Read a bot's folder as an entry of a tournament that grants it no rights.

    Args:
        folder: The folder with its ``bot.yaml``.
        name: Another name to enter it under.

    Raises:
        ConfigError: Something is wrong, such as a program that is not installed; the error lists
            every problem.
    """
    problems = Problems(str(folder))
    entry = {"bot": str(folder), **({} if name is None else {"name": name})}
    document = Document(str(folder), problems, entry, marks={(): NOWHERE})
    candidate = EntryReader(document, FilePath.cwd()).reference(())
    for problem in candidate.broken if candidate else ():
        problems.add(problem)
    if candidate is None or problems:
        raise ConfigError(problems.lines())
    return candidate.entrant


def _find(path: FilePath) -> FilePath:
    """Return the file itself, or the bundled one of that name."""
    if os.path.exists(path):  # noqa: PTH110 - unlike Path's, it takes names that are too long
        return path
    found = bundled(path)
    if found is None:
        try:
            names = [str(other) for other in path.parent.glob("*.y*ml")]
        except OSError:
            names = []
        hint = nearest(str(path), [*names, *bundled_names()])
        mark = Mark(1, 1)
        message = f"there is no such file, expected a tournament's configuration{hint}"
        raise ConfigError([str(Problem(str(path), mark, (), message))])
    return found


def _is_mapping(document: Document) -> bool:
    if isinstance(document.data, dict):
        return True
    document.add((), f"found {shown(document.data)}, expected key: value lines (game:, bots: ..)")
    return False


def _game(document: Document) -> Game[Any, Any] | None:
    if "game" not in document.data:
        document.add(("game",), f"this key is missing, expected {listed(games.names())}")
        return None
    name = document.get(("game",))
    if not games.exists(name):
        names = games.names()
        hint = nearest(name, names) if isinstance(name, str) else ""
        document.add(("game",), f"found {shown(name)}, expected {listed(names)}{hint}")
        return None
    try:
        return games.game(name)
    except UsageError as error:
        document.add(("game",), str(error))
        return None


def _misplaced(game: Game[Any, Any] | None) -> dict[str, str]:
    """Return the messages for keys that belong to a section."""
    sections = {**_SECTIONS, **({"rules": game.options} if game else {})}
    return {
        field.alias or name: f"unknown key here, expected it under '{section}:'"
        for section, model in sections.items()
        for name, field in model.model_fields.items()
    } | {"rounds": "unknown key here, expected it under 'schedule:'"}


def _schedule(document: Document) -> ScheduleConfig | None:
    """Read the format and its options."""
    place = ("schedule", "format")
    name = document.get(place, formats.DEFAULT)
    names = formats.names()
    if name not in names:
        hint = nearest(name, names) if isinstance(name, str) else ""
        document.add(place, f"found {shown(name)}, expected {listed(names)}{hint}")
        return None
    model = formats.format_class(name).options
    skip = frozenset({"format"})
    options = read(model, document, ("schedule",), skip=skip, known=skip)
    return None if options is None else ScheduleConfig(format=name, options=options)


def _match(
    document: Document, settings: Settings | None, options: GameOptions | None
) -> MatchConfig | None:
    """Resolve the match settings for the number of players."""
    written = settings.match if settings else read(MatchFile, document, ("match",))
    if written is None or options is None:
        return None
    # True == 1 in Python, so truth values are compared first.
    if written.duplicate is True:
        duplicate = options.players
    elif written.duplicate is False:
        duplicate = 0
    else:
        duplicate = written.duplicate
    if duplicate > options.players:
        document.add(
            ("match", "duplicate"),
            f"found {duplicate}, expected at most {options.players}, one rotation for each player",
        )
    points = options.points_chosen()
    # Totals that all stay at 0 or below, or all grow alike, never have a winner.
    hopeless = bool(points) and (max(points) <= 0 or len(set(points)) == 1)
    if not duplicate and written.target is not None and hopeless:
        document.add(
            ("match", "target"),
            f"found {written.target:g}, which no player can reach alone with these points:"
            f" {', '.join(f'{one:g}' for one in points)}",
        )
    if not duplicate:
        one = 1 if written.target is None else None
        return MatchConfig(duplicate=0, deals=written.deals or one, target=written.target)
    for key in ("deals", "target"):
        if getattr(written, key) is not None:
            document.add(
                ("match", key),
                "a match of duplicate deals ends when the rotations are over, expected this key "
                "only beside 'duplicate: false'",
            )
    return MatchConfig(duplicate=duplicate)


def _given_seed(seed: int | str | None, earlier_seed: str | None) -> int | str | None:
    """Check a seed that replaces the one of the file."""
    if isinstance(seed, str) and seed != earlier_seed:
        return checked_seed(seed, "--seed")
    return seed


def _known(seed: int | str | None) -> int | str | None:
    """Return a seed that is known before the first run, or None."""
    return None if seed == "secret" else seed


def _written(document: Document, place: Path) -> Any:
    """Return a scalar as the file has it, whatever YAML made of it."""
    return document.texts.get(place, document.get(place))


def _candidates(
    document: Document, file: FilePath, *, seats: int | None, skip_broken: bool
) -> tuple[list[Candidate], tuple[SkippedBot, ...]]:
    """Return all entrants in order, and the ones that are left out.

    Args:
        document: The file's content.
        file: Its path.
        seats: The smallest number of bots; None for any number.
        skip_broken: Whether to leave out bots with problems of their own.
    """
    entries = document.get(("bots",))
    if not isinstance(entries, list):
        found = f"found {shown(entries)}" if "bots" in document.data else "this key is missing"
        document.add(("bots",), f"{found}, expected a list of bots")
        return [], ()
    reader = EntryReader(document, FilePath(os.path.realpath(file.parent)))
    candidates: list[Candidate] = []
    skipped: list[SkippedBot] = []
    for index in range(len(entries)):
        candidate, problems = _read_entry(document, reader, index)
        if skip_broken and (problems or candidate is None):
            name = escaped(_label(entries[index])) if candidate is None else candidate.entrant.name
            # The problems of a bot.yaml come with the first entry that names it.
            why = [*problems.lines(), "its bot.yaml is that of an earlier entry"][0]
            skipped.append(SkippedBot(name=name, why=why))
            continue
        document.problems.extend(problems)
        if candidate is not None:
            candidates.append(candidate)
    _check_names(document, candidates)
    _check_anchors(document, candidates)
    if seats is not None:
        _check_number(document, seats, len(entries) - len(skipped))
    return candidates, tuple(skipped)


def _read_entry(
    document: Document, reader: EntryReader, index: int
) -> tuple[Candidate | None, Problems]:
    """Return an entry, if it can be read, and the problems that concern it alone."""
    others, document.problems = document.problems, Problems(document.file)
    try:
        candidate = reader.read(index)
        for problem in candidate.broken if candidate else ():
            document.problems.add(problem)
        if candidate is not None:
            _check_game(document, candidate)
        return candidate, document.problems
    finally:
        document.problems = others


def _label(entry: Any) -> str:
    """Return what names an entry that cannot be read."""
    if isinstance(entry, dict):
        entry = entry.get("name") or entry.get("bot")
    return FilePath(entry).name if isinstance(entry, str) else shown(entry)


def _check_names(document: Document, candidates: list[Candidate]) -> None:
    taken: dict[str, Candidate] = {}
    for candidate in candidates:
        name = candidate.entrant.name
        first = taken.setdefault(folded(name), candidate)
        if first is not candidate:
            number = 2
            while folded(f"{name}-{number}") in taken:
                number += 1
            entry = document.get(candidate.place)
            folder = entry.get("bot") if isinstance(entry, dict) else entry
            free = escaped(f"{name}-{number}")
            fix = f"{{bot: {escaped(str(folder))}, name: {free}}}" if folder else f"name: {free}"
            document.add(
                candidate.named,
                f"the name {shown(name)} is taken by the bot on line "
                f"{document.mark(first.named).line}, expected names that differ by more than "
                f"case; write {fix}",
            )


def _check_anchors(document: Document, candidates: list[Candidate]) -> None:
    """Refuse a second anchor: the difference of two bots follows from their deals."""
    anchors = [one for one in candidates if one.entrant.anchor is not None]
    for other in anchors[1:]:
        document.add(
            (*other.place, "anchor"),
            f"the ratings are anchored to the bot on line {document.mark(anchors[0].place).line}, "
            "expected one anchor: deals decide how far apart two bots are",
        )


def _check_game(document: Document, candidate: Candidate) -> None:
    game, plays = document.get(("game",)), candidate.entrant.games
    if plays is not None and games.exists(game) and not games.claims(plays, game):
        name = shown(candidate.entrant.name)
        document.add(
            candidate.place,
            f"the bot {name} plays {listed(plays, 'and')}, expected one that plays {game}",
        )


def _check_number(document: Document, seats: int, found: int) -> None:
    if found < seats:
        document.add(
            ("bots",),
            f"found {found} bot{'' if found == 1 else 's'}, expected at least {seats} "
            "to fill a table: add bots, or fewer players under 'rules:'",
        )


def _check_playable(
    document: Document, schedule: ScheduleConfig, players: int, candidates: list[Candidate]
) -> None:
    """Refuse entrants, teams or options that the format cannot make tables of.

    `_check_number` deals with too few bots for a single table.
    """
    if len(candidates) < players:
        return
    field = Field(
        entrants=len(candidates),
        players=players,
        seed=0,
        names=tuple(candidate.entrant.name for candidate in candidates),
        teams=tuple(candidate.entrant.team for candidate in candidates),
    )
    try:
        formats.make(schedule.format, field, schedule.options)
    except OptionError as error:
        document.add(("schedule", *error.option), str(error))
    except UsageError as error:
        document.add(_of_largest_team(candidates) or ("schedule",), str(error))


def _of_largest_team(candidates: list[Candidate]) -> Path | None:
    """Return the place of the last ``team:`` of the largest team; None if there are no teams."""
    members = Counter(one.entrant.team for one in candidates if one.entrant.team is not None)
    if not members or max(members.values()) == 1:
        return None
    largest = max(members, key=members.__getitem__)
    last = [one for one in candidates if one.entrant.team == largest][-1]
    return (*last.place, "team")
