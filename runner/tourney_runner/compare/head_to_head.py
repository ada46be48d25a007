"""Comparison of two bots by a sequential test.

Both sit at every table, the rest of the field joins them in turn, and the places are evaluated
after every few matches. Matches count in schedule order only: the order in which they finish
depends on how fast bots play, which must not influence the result.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from contextlib import closing
from dataclasses import asdict, replace
from math import ceil, isfinite, sqrt
from typing import TYPE_CHECKING, NamedTuple

from tourney_runner.atomic_write import write_whole
from tourney_runner.config.models import ScheduleConfig
from tourney_runner.errors import UsageError
from tourney_runner.ratings.gsprt import (
    Comparison,
    ComparisonOutcome,
    Corrected,
    Rule,
    compare,
    corrected,
    expected_matches,
    leads,
)
from tourney_runner.results.rulings import counting_deals
from tourney_runner.results.store import FILE_NAME, Store
from tourney_runner.results.tournament_record import Seed
from tourney_runner.run.tournament import run
from tourney_runner.run.tournament_setup import make_format
from tourney_runner.schedule.gauntlet import GauntletOptions
from tourney_runner.text import nearest, shown

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tourney_runner.config import Config
    from tourney_runner.config.models import Entrant
    from tourney_runner.results.records import DealRecord
    from tourney_runner.run.progress import Reporter
    from tourney_runner.run.tournament import RunOptions

__all__ = [
    "DuelResult",
    "compare_bots",
    "comparison_name",
    "duel",
]

_FILE = "comparison.json"
_SHOWN = 10
"""Maximum number of names in a message."""
_UNITS = {"places": "places", "sd": "standard deviations"}
_A, _B = 0, 1
"""The numbers of the two bots, which are always the first entrants."""


class DuelResult(NamedTuple):
    """The result of a comparison of two bots."""

    a: str
    b: str
    rule: Rule
    outcome: ComparisonOutcome
    deals: int
    """Deals of the matches that were counted."""
    played: int
    """All deals; the rest of the last tables is not counted."""
    faults: tuple[dict[str, int], dict[str, int]]
    """The faults of A and of B in all deals, by kind."""

    @property
    def verdict(self) -> str:
        """``better``, ``not better`` or ``undecided``."""
        return self.outcome.verdict or "undecided"

    @property
    def estimate(self) -> Corrected:
        """The lead, corrected for the stopping rule of the test."""
        return corrected(self.rule, self.outcome)

    def lines(self) -> list[str]:
        """Return the result as lines of text; the first line is the verdict."""
        rule, outcome, estimate = self.rule, self.outcome, self.estimate
        way = "ahead of" if outcome.lead >= 0 else "behind"
        uncounted = self.played - self.deals
        rest = f"; {uncounted:,} more were played and not counted" if uncounted else ""
        return [
            f"{self.a} against {self.b}: {self.verdict}",
            f"{self.a} finished {abs(outcome.lead):.3f} places {way} {self.b} on average",
            (
                f"corrected for the early stop: {estimate.lead:+.3f} places, 95 % interval"
                f" {estimate.low:+.3f} to {estimate.high:+.3f}"
            ),
            f"matches: {outcome.matches:,}, deals: {self.deals:,}{rest}",
            (
                f"log-likelihood ratio of {rule.d1:g} against {rule.d0:g} {_UNITS[rule.unit]}:"
                f" {outcome.llr:.2f}; better from {rule.upper:.2f}, not better from"
                f" {rule.lower:.2f}, undecided after {rule.cap:,} matches"
            ),
            "faults: "
            + "; ".join(
                f"{name} {_fault_words(faults)}"
                for name, faults in zip((self.a, self.b), self.faults, strict=True)
            ),
        ]


def _fault_words(faults: dict[str, int]) -> str:
    return ", ".join(f"{kind} {count}" for kind, count in faults.items()) or "none"


def comparison_name(stem: str, *names: str) -> str:
    """Return the name of the folder in which a comparison is stored.

    Args:
        stem: The name of the tournament's file; empty without one.
        names: The names of the bots.
    """
    plain = (re.sub(r"[^\w.-]+", "-", name).strip("-.") or "bot" for name in names)
    return f"{stem}{'.' if stem else ''}compare-{'-'.join(plain)}"


def duel(config: Config, a: str, b: str, rule: Rule) -> Config:
    """Return the tournament that compares two bots, on deals of its own.

    Args:
        config: The tournament in which they are entered.
        a: The bot that may be better.
        b: The other bot.
        rule: The test; its cap limits the rounds.

    Raises:
        UsageError: They are not two of its bots, or there are no tables for them.
    """
    one, other = _entrant(config, a), _entrant(config, b)
    if one is other:
        raise UsageError(f"{shown(a)} cannot be compared with itself")
    if one.team is not None and one.team == other.team:  # teammates must meet here
        other = other.model_copy(update={"team": None})
    rest = [entrant for entrant in config.entrants if entrant.name not in {one.name, other.name}]
    field = (one, other, *(rest if config.options.players > 2 else ()))
    seed = None if config.seed is None else f"{config.seed}/compare/{one.name}/{other.name}"
    compared = config.model_copy(
        update={
            "name": f"{config.name}: {one.name} against {other.name}",
            "seed": seed,
            "entrants": tuple(
                entrant.model_copy(update={"number": number})
                for number, entrant in enumerate(field)
            ),
        }
    )
    return _with_rounds(compared, _rounds(_with_rounds(compared, 1), rule.cap))


def compare_bots(config: Config, rule: Rule, choices: RunOptions, reporter: Reporter) -> DuelResult:
    """Play a `duel` until its test is decided, and store everything in a folder.

    Args:
        config: The configuration that `duel` returns.
        rule: The test. When a comparison is continued, only its cap may change.
        choices: The options of the run.
        reporter: Receives the progress.

    Raises:
        UsageError: Nothing was played; the folder may hold another comparison.
        RunError: The disk or the workers fail; stored results can be continued.
        Interrupted: By a signal; stored results can be continued.
    """
    if (choices.folder / FILE_NAME).exists() and not choices.fresh:
        config = _taken_up(config, rule, choices.folder)
    reporter.say(
        f"comparing {config.entrants[_A].name} with {config.entrants[_B].name}: about"
        f" {_announced(config, rule):,} matches if the lead is {rule.d0:g} or {rule.d1:g}"
        f" {_UNITS[rule.unit]}, fewer if it is outside and more if it is between them;"
        f" {rule.cap:,} at most"
    )
    test = Comparison(rule)

    def enough(deals: Iterable[DealRecord]) -> bool:
        test.add(*leads(deals, _A, _B))
        outcome = test.outcome()
        _write(choices.folder, rule, outcome)
        return outcome.verdict is not None

    run(config, replace(choices, enough=enough), reporter)
    with closing(Store(choices.folder / FILE_NAME)) as store:
        result = _result(config, rule, store)
    _write(choices.folder, rule, result.outcome, result)
    return result


def _announced(config: Config, rule: Rule) -> int:
    """Return the median length of a test for bots whose places are random.

    The lead of one of k players over another then has the variance k (k + 1) / 6 in a deal.
    """
    players, deals = config.options.players, config.match.duplicate or config.match.deals or 1
    return ceil(expected_matches(rule, sqrt(players * (players + 1) / 6 / deals)))


def _entrant(config: Config, name: str) -> Entrant:
    names = [entrant.name for entrant in config.entrants]
    if name not in names:
        raise UsageError(
            f"there is no bot {shown(name)} in {config.path}; its bots are"
            f" {', '.join(names[:_SHOWN])}{', ..' if len(names) > _SHOWN else ''}"
            f"{nearest(name, names)}"
        )
    return config.entrants[names.index(name)]


def _with_rounds(config: Config, rounds: int) -> Config:
    challengers = tuple(entrant.name for entrant in config.entrants[:2])
    options = GauntletOptions(challengers=challengers, together=True, rounds=rounds)
    return config.model_copy(
        update={"schedule": ScheduleConfig(format="gauntlet", options=options)}
    )


def _rounds(config: Config, cap: int) -> int:
    """Return the number of rounds that contain `cap` matches."""
    names = tuple(entrant.name for entrant in config.entrants)
    planned = make_format(config, Seed(0, secret=True), names)
    return ceil(cap / (planned.matches(0) or 1))


def _taken_up(config: Config, rule: Rule, folder: Path) -> Config:
    """Return the tournament as continued in a folder, without more rounds if it is decided.

    Raises:
        UsageError: Another test was begun there.
    """
    _check_rule(folder, rule)
    with closing(Store(folder / FILE_NAME)) as store:
        record = store.tournament_if_begun()
        if record is None:
            return config
        played = record.rounds or 0
        decided = record.complete and _result(config, rule, store).outcome.verdict
    return _with_rounds(config, played if decided else max(played, config.schedule.rounds or 0))


def _result(config: Config, rule: Rule, store: Store) -> DuelResult:
    outcome = compare(rule, leads((record for _, record in counting_deals(store)), _A, _B))
    matches, deals, played = 0, 0, 0
    faults: dict[int, Counter[str]] = {_A: Counter(), _B: Counter()}
    last = None
    for _, record in counting_deals(store):
        played += 1
        matches += record.key[:2] != last
        deals += matches <= outcome.matches
        for fault in record.faults:
            if fault.entrant in faults:
                faults[fault.entrant][fault.kind] += 1
        last = record.key[:2]
    one, other = (config.entrants[number].name for number in (_A, _B))
    return DuelResult(one, other, rule, outcome, deals, played, (faults[_A], faults[_B]))


def _check_rule(folder: Path, rule: Rule) -> None:
    """Refuse to continue with another test, since a choice based on results would invalidate it."""
    try:
        before = json.loads((folder / _FILE).read_text(encoding="utf-8"))["rule"]
    except FileNotFoundError:
        return
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{folder / _FILE}: this cannot be read: {error}") from error
    now = asdict(rule)
    before.setdefault("unit", "places")  # the only one that earlier versions knew
    changed = [key for key in now if key != "cap" and before.get(key) != now[key]]
    if changed:
        was = ", ".join(f"{key} {before.get(key)}" for key in changed)
        raise UsageError(
            f"{folder}: this comparison was begun with {was}, and only its cap may change; give"
            " --out another folder, or --fresh to begin again"
        )


def _write(
    folder: Path, rule: Rule, outcome: ComparisonOutcome, result: DuelResult | None = None
) -> None:
    """Store the test beside the results, for programs and for continuing."""
    found = {
        key: value if not isinstance(value, float) or isfinite(value) else None
        for key, value in outcome._asdict().items()
    }
    if result is not None:
        found["corrected"] = result.estimate._asdict()
        found["faults"] = {result.a: result.faults[0], result.b: result.faults[1]}
    write_whole(folder / _FILE, json.dumps({"rule": asdict(rule), **found}, indent=2) + "\n")
