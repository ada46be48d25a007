"""The check of single rules and options: deals lead the bot to each, and its plays are counted.

The deals come from `games.rule_probes`. The other seats follow a script up to the bot's turn. After
that they follow the deal's own rule, mostly safe moves, and leave the deal once the bot has been
asked a few times, so that even a slow bot meets many positions.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import count
from random import Random
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args, get_origin

from pydantic import ValidationError

from tourney_runner.games.rule_probes import find_probes
from tourney_runner.play.bot import Bot
from tourney_runner.play.faults import Fault
from tourney_runner.play.in_process_players import LocalPlayer
from tourney_runner.results.records import CUT_SHORT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tourney_runner.botcheck.recording_player import RecordingPlayer
    from tourney_runner.botcheck.trial_table import Table
    from tourney_runner.games.base import Game, GameOptions, State
    from tourney_runner.games.rule_probes import Probe, RuleProbes
    from tourney_runner.play.player import PlayerSetup
    from tourney_runner.results.records import DealRecord

__all__ = [
    "Deadline",
    "RuleCoverage",
    "RuleSeries",
    "Variant",
    "largest",
    "play_series",
    "rule_series",
    "table_sizes",
    "variants",
]


_RARE = 5
"""The number of unused chances after which the report mentions a kind of play."""
_SEARCH = {(False, False): (240, 3), (False, True): (40, 1), (True, False): (60, 1),
           (True, True): (15, 1)}  # fmt: skip
"""The numbers of deals constructed and kept for each point, by whether the rules are unusual and
whether the bot has its legal plays listed."""


class Deadline:
    """The end of the time for a part of the check.

    Args:
        seconds: The time from now.
    """

    def __init__(self, seconds: float) -> None:
        self._end = monotonic() + seconds

    def is_over(self) -> bool:
        """Return whether the time is used up."""
        return monotonic() > self._end


@dataclass
class RuleCoverage:
    """The rules and plays that a bot met, over all deals of one game."""

    positions: int = 0
    """The number of requests that the bot answered."""
    points: set[str] = field(default_factory=set)
    """The points of the rules that the constructed deals lead to."""
    reached: set[str] = field(default_factory=set)
    """The points at which the bot was asked."""
    offered: Counter[str] = field(default_factory=Counter)
    """The number of times that each kind of play was legal."""
    used: set[str] = field(default_factory=set)
    """The kinds of play that the bot made."""

    def never_used(self) -> list[str]:
        """Return the kinds of play that the bot could have made several times and never did."""
        return sorted(kind for kind, times in self.offered.items()
                      if times >= _RARE and kind not in self.used)  # fmt: skip

    def add_deal(
        self,
        probes: RuleProbes[Any],
        game: Game[Any, Any],
        state: State[Any],
        moves: str,
        seat: int,
    ) -> int:
        """Count the plays of one deal.

        Args:
            probes: The game's rule probes.
            game: The game.
            state: The cards as they were dealt.
            moves: The moves, as they are stored.
            seat: The bot's seat.

        Returns:
            The number of the bot's legal answers.
        """
        answers = 0
        for code in moves.split():
            if code[0] == "!":
                state.forfeit(int(code[1:]))
                continue
            if code == CUT_SHORT:
                break
            action = game.decode(code)
            if state.current_player == seat:
                answers += 1
                legal = state.legal_actions("canonical").actions
                self.offered.update({it for one in legal for it in probes.kinds(state, one)})
                self.used.update(probes.kinds(state, action))
            state.apply_action(action)
        self.positions += answers
        return answers


class RuleSeries(NamedTuple):
    """A series of probes that one process plays one after the other."""

    variant: Variant
    probes: Sequence[Probe]


def rule_series(
    probes: RuleProbes[Any], game: Game[Any, Any], variants: Sequence[Variant], *, listed: bool
) -> Iterator[RuleSeries]:
    """Yield the probes of all variants, a first one of every point before any second one.

    Args:
        probes: The game's rule probes.
        game: The game.
        variants: The sets of rules, the usual one first.
        listed: Whether the bot is shown its legal plays, so that fewer probes are enough.
    """
    later: list[RuleSeries] = []
    for number, variant in enumerate(variants):
        searched, each = _SEARCH[number > 0, listed]
        chance = Random(f"{game.name} {variant.label}")  # noqa: S311 - must be repeatable
        found = find_probes(
            probes, variant.options, game.answer, chance, searched=searched, each=each
        )
        points = len({probe.point for probe in found})
        yield RuleSeries(variant, found[:points])
        later.append(RuleSeries(variant, found[points:]))
    yield from (series for series in later if series.probes)


def play_series(
    series: RuleSeries,
    table: Table,
    bot: RecordingPlayer,
    probes: RuleProbes[Any],
    coverage: RuleCoverage,
) -> Iterator[tuple[Probe, DealRecord]]:
    """Play the deals of a series, count their coverage, and yield each probe with its record.

    Raises:
        HostFailureError: A deal was void.
    """
    coverage.points |= {probe.point for probe in series.probes}
    for number, probe in enumerate(series.probes):
        seat = probe.deal.seat
        record = _play_probe(table, bot, probe, number)
        start = probe.deal.start()
        if coverage.add_deal(probes, table.game, start, record.moves, seat):
            coverage.reached |= probe.points
        yield probe, record


class _Script:
    """The moves of all seats except the bot's, and the point at which they leave the deal."""

    def __init__(self, probe: Probe, bot: RecordingPlayer) -> None:
        self._deal = probe.deal
        self._moves = iter(probe.deal.script)
        self._bot = bot
        self._answered = len(bot.exchanges)

    def next(self, state: State[Any]) -> dict[str, Any]:
        """Return the next answer.

        Raises:
            Fault: The deal has served its purpose.
        """
        if len(self._bot.exchanges) - self._answered >= self._deal.answers:
            raise Fault("crash", "the others leave the deal, which has served its purpose")
        action = next(self._moves, None)
        return state.write(self._deal.others(state) if action is None else action)


class _SteeredPlayer(LocalPlayer):
    """A seat that follows a script."""

    def __init__(
        self, seat: int, setup: PlayerSetup, game: Game[Any, Any], script: _Script
    ) -> None:
        super().__init__(Bot(name=f"house {seat}", number=seat + 1), setup, game)
        self._script = script

    def choose(self, request: bytes) -> dict[str, Any]:  # noqa: ARG002 - it sees the state
        """See `LocalPlayer.choose`."""
        return self._script.next(self.state)


def _play_probe(table: Table, bot: RecordingPlayer, probe: Probe, number: int) -> DealRecord:
    """Play a constructed deal with the bot in its seat.

    Args:
        table: The rules.
        bot: The bot.
        probe: The deal.
        number: The seed of the bot's own randomness.

    Raises:
        HostFailureError: The deal was void.
    """
    state, script, setup = probe.deal.start(), _Script(probe, bot), table.setup()
    others = {
        seat: _SteeredPlayer(seat, setup, table.game, script)
        for seat in range(state.players)
        if seat != probe.deal.seat
    }
    return table.play_state(state, number, {probe.deal.seat: bot, **others})


class Variant(NamedTuple):
    """One set of rules."""

    label: str
    options: GameOptions


def table_sizes(game: Game[Any, Any]) -> tuple[int, int, int]:
    """Return the smallest, the usual and the largest number of players."""
    field = game.options.model_json_schema()["properties"]["players"]
    return field["minimum"], field["default"], field["maximum"]


def variants(game: Game[Any, Any]) -> Iterator[Variant]:
    """Yield sets of rules that differ as much as the game allows, the usual ones first."""
    seen = []
    for variant in _all_variants(game):
        rules = variant.options.in_force()
        if rules not in seen:
            seen.append(rules)
            yield variant


def _all_variants(game: Game[Any, Any]) -> Iterator[Variant]:
    least, usual, _ = table_sizes(game)
    for players in dict.fromkeys((usual, least)):
        yield Variant(_players(players), game.options.model_validate({"players": players}))
    yield largest(game)
    choices = _choices(game)
    for preset in choices.pop("preset", ()):
        options = game.options.model_validate({"players": usual, "preset": preset})
        yield Variant(f"{_players(usual)}, preset {preset}", options)
    for turn in count():
        given = {name: values[turn] for name, values in choices.items() if turn < len(values)}
        if not given:
            return
        options = _fitting(game, {"players": usual}, given)
        yield Variant(f"{_players(usual)}, other rules {turn + 1}", options)


def largest(game: Game[Any, Any]) -> Variant:
    """Return the largest table, with as many cards as the rules allow."""
    most = table_sizes(game)[2]
    numbers = {
        name: max(values)
        for name, values in _choices(game).items()
        if all(type(value) is int for value in values)
    }
    options = _fitting(game, {"players": most}, numbers)
    more = [f"{name} {value}" for name, value in numbers.items() if getattr(options, name) == value]
    return Variant(", ".join([_players(most), *more]), options)


def _players(number: int) -> str:
    return f"{number} players"


def _fitting(game: Game[Any, Any], base: dict[str, Any], given: dict[str, Any]) -> GameOptions:
    """Return options with as many of the given values as are valid together."""
    rules = dict(base)
    for name, value in given.items():
        try:
            game.options.model_validate({**rules, name: value})
        except ValidationError:
            continue
        rules[name] = value
    options: GameOptions = game.options.model_validate(rules)
    return options


def _choices(game: Game[Any, Any]) -> dict[str, tuple[Any, ...]]:
    """Return the values other than the default, for each option with named values."""
    found: dict[str, tuple[Any, ...]] = {}
    for name, option in game.options.model_fields.items():
        default = option.get_default(call_default_factory=True)
        values = tuple(
            value for value in _values(option.annotation) if value not in (default, None)
        )
        if values:
            found[name] = values
    return found


def _values(annotation: Any) -> list[Any]:
    """Return the values that an annotation names; for a list of them, one value with all."""
    if annotation is bool:
        return [False, True]
    if get_origin(annotation) is Literal:
        return list(get_args(annotation))
    if get_origin(annotation) is tuple:
        named = _values(get_args(annotation)[0])
        return [tuple(named)] if named else []
    return [value for part in get_args(annotation) for value in _values(part)]
