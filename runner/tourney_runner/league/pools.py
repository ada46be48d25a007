"""Pools and their final: configurations of several tournaments, made of the one of a whole field.

The files are written beside the field's, so that the paths in them stay valid. Each has a seed of
its own: the same cards must not be dealt twice to bots that go on from a pool to the final.
"""

from __future__ import annotations

import shlex
from contextlib import closing
from random import Random
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import yaml

from tourney_runner.atomic_write import write_whole
from tourney_runner.config import load_config
from tourney_runner.config.validation import Problems
from tourney_runner.config.yaml_document import load_document
from tourney_runner.errors import ConfigError, RunError, UsageError
from tourney_runner.publish.summary import summarise
from tourney_runner.results.store import FILE_NAME, Store
from tourney_runner.schedule import registry as formats
from tourney_runner.text import counted, escaped, listed, shown

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tourney_runner.config import Config, Entrant
    from tourney_runner.publish.summary import Summary

__all__ = ["Final", "Seeding", "draw_pools", "final_path", "make_final", "pool_paths"]

Seeding = Literal["listed", "drawn"]


def pool_paths(config: Path) -> list[Path]:
    """Return the pools' files that lie beside a field's, in order: ``cup-pool-1.yaml`` ..."""
    found = config.parent.glob(f"{config.stem}-pool-*{config.suffix}")
    numbered = {path.stem.rpartition("-")[2]: path for path in found}
    return [numbered[number] for number in sorted(filter(str.isdecimal, numbered), key=int)]


def final_path(config: Path) -> Path:
    """Return the file of the final of a field's pools: ``cup-final.yaml``."""
    return config.with_name(f"{config.stem}-final{config.suffix}")


def draw_pools(config: Path, pools: int, seeding: Seeding, chance: int) -> list[Path]:
    """Write the configuration of each pool.

    Args:
        config: The configuration of the whole field.
        pools: The number of pools; their sizes differ by at most one bot.
        seeding: ``listed``: the file lists the strongest bot first, and the pools get bots of every
            strength. ``drawn``: by lot, with the bots of a team in different pools.
        chance: The number that decides the lots.

    Returns:
        The files in order; existing ones with the same content stay.

    Raises:
        ConfigError: The configuration is wrong, or that of a pool would be.
        UsageError: The pools would be too small, or other pools lie there.
    """
    field = load_config(config)
    players = field.options.players
    if len(field.entrants) < pools * players:
        raise UsageError(
            f"{config}: {counted(len(field.entrants), 'bot')} in {counted(pools, 'pool')} would be"
            f" too few for tables of {players}; at most"
            f" {counted(len(field.entrants) // players, 'pool')} can be filled"
        )
    written = _written(config)
    groups = _snake(field.entrants, pools) if seeding == "listed" else _lots(field, pools, chance)
    how = "in the order of the file" if seeding == "listed" else f"by lot, with the number {chance}"
    documents = {
        config.with_name(f"{config.stem}-pool-{number}{config.suffix}"): _document(
            field, written, f"pool {number}", number, [written["bots"][at] for at in sorted(group)]
        )
        for number, group in enumerate(groups, 1)
    }
    if strangers := set(pool_paths(config)) - documents.keys():
        raise UsageError(
            f"{min(strangers)} belongs to another draw; move the files of that draw away first"
        )
    head = f"# Pools of {escaped(config.name)}, drawn {how}: `tourney pools draw`\n"
    for path, document in documents.items():
        _write(path, head, document)
    return list(documents)


class Final(NamedTuple):
    """The final of some pools."""

    path: Path
    """Its configuration."""
    names: tuple[str, ...]
    """Its bots, the best seed first."""
    notes: tuple[str, ...]
    """Places that the deals of a pool leave open."""


def make_final(config: Path, results: Path, first: int, format_name: str) -> Final:
    """Write the configuration of the final from the results of the pools.

    The winners of the pools come first, in the order of the pools, then the second ones, and so on.
    A knockout that is seeded in this order keeps the winners apart.

    Args:
        config: The configuration of the whole field.
        results: The folder with a results folder for each pool, named like its file.
        first: The number of bots that go on from each pool.
        format_name: The format of the final.

    Raises:
        ConfigError: The configuration is wrong, or that of the final would be.
        UsageError: A pool is missing, not finished or too small, or another final lies there.
    """
    pools = pool_paths(config)
    if not pools:
        raise UsageError(
            f"{config}: there are no pools beside it yet; draw them with\n"
            f"  {shlex.join(['tourney', 'pools', 'draw', str(config), '--pools', 'N'])}"
        )
    if format_name not in formats.names():
        raise UsageError(
            f"--format: found {shown(format_name)}, expected {listed(formats.names(), 'or')}"
        )
    field, written = load_config(config), _written(config)
    tables = [_ended(path, results / path.stem) for path in pools]
    going = [_first_of(table, first, path) for path, table in zip(pools, tables, strict=True)]
    names = [pool[place] for place in range(first) for pool in going]
    numbers = {entrant.name: entrant.number for entrant in field.entrants}
    if unknown := [name for name in names if name not in numbers]:
        raise UsageError(
            f"{config}: {shown(unknown[0])} goes on to the final, but this file does not enter it"
        )
    options = {"seeding": "listed"} if format_name == "knockout" else {}
    schedule = {"format": format_name, **options}
    bots = [written["bots"][numbers[name]] for name in names]
    document = _document(field, written, "final", len(pools) + 1, bots) | {"schedule": schedule}
    _write(final_path(config), f"# The first {first} of each pool, the best seed first\n", document)
    notes = [
        note
        for path, table in zip(pools, tables, strict=True)
        for note in _open(path, table, first)
    ]
    return Final(final_path(config), tuple(names), tuple(notes))


def _written(config: Path) -> dict[str, Any]:
    """Return a file's content as it is written."""
    problems = Problems(str(config))
    document = load_document(config, str(config), problems)
    if document is None:
        raise ConfigError(problems.lines())
    content: dict[str, Any] = document.get(())
    return content


def _snake(entrants: Sequence[Entrant], pools: int) -> list[list[int]]:
    """Return the numbers of the entrants of each pool, to and fro over the order of strength."""
    groups: list[list[int]] = [[] for _ in range(pools)]
    for place, entrant in enumerate(entrants):
        row, column = divmod(place, pools)
        groups[column if row % 2 == 0 else pools - 1 - column].append(entrant.number)
    return groups


def _lots(field: Config, pools: int, chance: int) -> list[list[int]]:
    """Return the numbers of the entrants of each pool by lot; teams are spread over the pools."""
    random = Random(f"{chance} pools")  # noqa: S311 - must be repeatable
    drawn = random.sample(field.entrants, len(field.entrants))
    teams = {entrant.team: place for place, entrant in reversed(list(enumerate(drawn)))}
    drawn.sort(key=lambda entrant: (entrant.team is None, teams[entrant.team]))
    groups: list[list[int]] = [[] for _ in range(pools)]
    for place, entrant in enumerate(drawn):
        groups[place % pools].append(entrant.number)
    return groups


def _document(
    field: Config, written: dict[str, Any], part: str, number: int, bots: list[Any]
) -> dict[str, Any]:
    """Return the configuration of a part of the contest. A seed that is a number is counted up."""
    document = written | {"name": f"{field.name}, {part}", "bots": bots}
    if isinstance(field.seed, int):
        document["seed"] = field.seed + number
    return document


def _write(path: Path, head: str, document: dict[str, Any]) -> None:
    """Check a configuration and write it, unless the same file exists already."""
    text = head + yaml.safe_dump(document, allow_unicode=True, sort_keys=False, width=100)
    trial = path.with_name(f".{path.stem}.new{path.suffix}")
    try:
        if path.exists():
            if path.read_text(encoding="utf-8") == text:
                return
            raise UsageError(f"{path} exists with other content; move it away first")
        write_whole(trial, text)
        load_config(trial)
        trial.replace(path)
    except OSError as error:
        raise RunError(f"{path}: it cannot be written: {error.strerror}") from error
    except ConfigError as error:
        named = [line.replace(str(trial), str(path)) for line in error.problems]
        raise ConfigError(named) from error
    finally:
        trial.unlink(missing_ok=True)


def _ended(pool: Path, folder: Path) -> Summary:
    """Return the table of a pool that is played to its end."""
    words = ["tourney", "run", str(pool), "--out", str(folder)]
    if not (folder / FILE_NAME).is_file():
        raise UsageError(
            f"{folder}: this pool has not been played; play it with\n  {shlex.join(words)}"
        )
    with closing(Store(folder / FILE_NAME)) as store:
        summary = summarise(store)
    if not summary.complete:
        raise UsageError(
            f"{folder}: this pool is not complete; continue it with\n  {shlex.join(words)}"
        )
    return summary


def _order(summary: Summary) -> list[str]:
    """Return the ranked bots, the best first: by the last table where that decides."""
    ranked = [row.name for row in summary.entrants if row.status == "ranked"]
    return list(dict.fromkeys((*summary.final, *ranked)))


def _first_of(summary: Summary, first: int, pool: Path) -> list[str]:
    """Return the configured names of the bots that go on from a pool."""
    versions = summary.facts.versions
    names = list(dict.fromkeys(versions.get(name, name) for name in _order(summary)))
    if len(names) < first:
        raise UsageError(
            f"{pool.stem}: {counted(len(names), 'bot')} in this pool have a rank, fewer than"
            f" --first {first}"
        )
    return names[:first]


def _open(pool: Path, summary: Summary, first: int) -> list[str]:
    """Return a note if the deals do not separate the last bot that goes on from the next one."""
    order = _order(summary)
    if summary.last_table_decides or len(order) <= first:
        return []
    pair = (order[first - 1], order[first])
    if pair not in {(one.above, one.below) for one in summary.table.too_close}:
        return []
    return [
        f"note: in {pool.stem}, {pair[0]} goes on and {pair[1]} does not; it was too close to call"
    ]
