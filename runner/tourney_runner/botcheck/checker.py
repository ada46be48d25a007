"""The check of a bot: real deals of every game that it claims, then the hard cases.

Bots are started as in a match, with the same staging, sandbox, limits, clock and reader of lines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from tourney_runner.botcheck.check_report import (
    OWN,
    Check,
    Deals,
    Report,
    answered,
    failed,
    judged,
    unbuilt,
)
from tourney_runner.botcheck.check_settings import protection, stage_bot
from tourney_runner.botcheck.output_lint import lint_output
from tourney_runner.botcheck.recording_player import WIRE_VARIANTS, Exchange
from tourney_runner.botcheck.rule_check import (
    Deadline,
    RuleCoverage,
    Variant,
    largest,
    play_series,
    rule_series,
    variants,
)
from tourney_runner.botcheck.trial_table import Table, first_position, longest_position
from tourney_runner.errors import UsageError
from tourney_runner.games import registry
from tourney_runner.play.faults import Fault, HostFailureError
from tourney_runner.play.match import PLAYS
from tourney_runner.process.fair_clock import make_clock
from tourney_runner.protocol.lines import encode, quoted
from tourney_runner.run.tournament_setup import differing_rules
from tourney_runner.text import counted, listed, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tourney_runner.botcheck.check_report import Watcher
    from tourney_runner.botcheck.check_settings import Plan
    from tourney_runner.botcheck.recording_player import RecordingPlayer
    from tourney_runner.config import Entrant
    from tourney_runner.games.base import Game
    from tourney_runner.games.rule_probes import Probe, RuleProbes
    from tourney_runner.results.records import DealRecord

__all__ = ["check_bot"]

_SEARCHED = 4000
"""The number of deals that are searched for one that the cards alone decide."""
_SHARE_OF_DEALS = 0.3
"""The share of the time for random deals; the rest is for the rules one by one."""
_MOST_BROKEN = 3
"""The number of broken rules that are reported in full."""


def check_bot(entrant: Entrant, plan: Plan, watcher: Watcher) -> Report:
    """Try a bot.

    Args:
        entrant: The bot.
        plan: The limits, and perhaps the tournament.
        watcher: Notified of each check.

    Raises:
        UsageError: The bot does not claim to play the plan's game.
    """
    if plan.game:
        registry.game(plan.game)
    if plan.game and entrant.games and not registry.claims(entrant.games, plan.game):
        raise UsageError(
            f"the bot {shown(entrant.name)} plays {listed(entrant.games, 'and')}, expected one "
            f"that plays {plan.game}: see `games` in its bot.yaml"
        )
    trial = _Trial(entrant, plan, watcher)
    trial.run()
    return trial.report()


def _failed_in(record: DealRecord) -> bool:
    return any(fault.entrant == OWN for fault in record.faults)


def _covered(coverage: RuleCoverage, until: Deadline) -> str:
    """Describe the coverage of the constructed deals."""
    found = (
        f"{counted(coverage.positions, 'position')}, {len(coverage.reached & coverage.points)} of "
        f"{counted(len(coverage.points), 'point')} of the rules reached"
    )
    if until.is_over():
        found += "; stopped when the time was used up (--time gives more)"
    if unused := coverage.never_used():
        found += f"; never used: {', '.join(unused)}"
    return found


class _HopelessError(Exception):
    """A failure that makes all later checks pointless."""


class _Trial:
    def __init__(self, entrant: Entrant, plan: Plan, watcher: Watcher) -> None:
        self._entrant = entrant
        self._plan = plan
        self._watcher = watcher
        self._checks: list[Check] = []
        self._hash = ""
        self._protection = protection()
        self._clock = make_clock(plan.clock)
        self._strayed = False
        self._plays: set[str] = set()
        """The moves of the same deal by all processes that played it without a fault."""

    def run(self) -> None:
        """Make all checks, until one fails that all others depend on."""
        games = self._games()
        try:
            self._stage()
            for game in games:
                self._try_game(game)
            self._hard_cases(games)
        except _HopelessError:
            return

    def report(self) -> Report:
        """Return the results."""
        return Report(
            bot=self._entrant.name,
            language=self._entrant.language,
            hash=self._hash,
            protection=self._protection.launcher.describe(),
            warning=self._protection.warning,
            checks=tuple(self._checks),
        )

    def _games(self) -> list[Game[Any, Any]]:
        only = self._plan.game
        names = [only] if only else self._entrant.games or registry.BUNDLED
        if families := [name for name in names if name in registry.families()]:
            raise UsageError(
                f"the bot {shown(self._entrant.name)} plays all games of {families[0]}, expected "
                f"one of them: --game {families[0]}/NAME"
            )
        return [registry.game(name) for name in names]

    def _variants(self, game: Game[Any, Any]) -> Iterator[Variant]:
        config = self._plan.config
        if config is None:
            yield from variants(game)
        else:
            yield Variant(f"{config.options.players} players, as configured", config.options)

    def _table(self, game: Game[Any, Any], variant: Variant) -> Table:
        settings = self._plan.settings_for(game.name, variant.options)
        return Table(game, variant.options, settings, self._protection.launcher, self._clock)

    def _usual_table(self, game: Game[Any, Any]) -> Table:
        return self._table(game, next(self._variants(game)))

    def _add(self, check: Check, table: Table | None = None) -> Check:
        """Store and report a check, with the rules of its table."""
        if table is not None:
            settings = table.settings
            rules = differing_rules(settings.game, settings.rules)
            check = msgspec.structs.replace(check, rules=rules)
        self._checks.append(check)
        self._watcher.finish(check)
        return check

    # Checks that all others depend on

    def _stage(self) -> None:
        self._watcher.begin("build")
        try:
            bot = stage_bot(self._entrant, self._protection.launcher, OWN)
        except UsageError as error:
            self._add(unbuilt("build", str(error)))
            raise _HopelessError from error
        self._hash = bot.hash
        self._bot = bot
        done = "built" if self._entrant.build else "copied"
        self._add(Check(name="build", verdict="ok", found=f"{done} (hash {bot.digits[:12]})"))

    def _start(self, table: Table) -> None:
        name = f"{table.game.name}: start"
        self._watcher.begin(name)
        player = table.player(self._bot)
        try:
            took = player.begin()
        except Fault as fault:
            self._add(failed(name, fault, player.hello, game=table.game.name))
            raise _HopelessError from fault
        finally:
            player.stop()
        self._ready = player.ready
        exchange = Exchange(player.hello, encode(player.ready), took)
        found = f"ready; legal plays listed: {player.ready.legal}"
        self._add(answered(name, found, exchange, table.settings.time.start_ms))

    # Deals

    def _try_game(self, game: Game[Any, Any]) -> None:
        tried = list(self._variants(game))
        self._start(self._table(game, tried[0]))
        seconds = self._plan.seconds / len(self._games())
        until = Deadline(seconds * _SHARE_OF_DEALS)
        for number, variant in enumerate(tried):
            deals = max(1 if number else 2, self._plan.deals // len(tried))
            check = self._deals(game, variant, number, deals, until)
            if check.verdict == "failed" and not number:
                self._ask_which_games(game)
                raise _HopelessError
        self._instant(self._table(game, tried[0]))
        if (probes := game.rule_probes()) is not None:
            self._rules(game, probes, tried, Deadline(seconds * (1 - _SHARE_OF_DEALS)))

    def _deals(
        self, game: Game[Any, Any], variant: Variant, number: int, deals: int, until: Deadline
    ) -> Check:
        """Play up to `deals` deals of one kind, in turn from all seats, until the time is over."""
        table = self._table(game, variant)
        players = variant.options.players
        least = 1 if number else 2

        def play(bot: RecordingPlayer) -> list[DealRecord]:
            records: list[DealRecord] = []
            while len(records) < deals and not (len(records) >= least and until.is_over()):
                it = len(records)
                records.append(table.play(bot, it, seat=(number + it) % players))
                if _failed_in(records[-1]):
                    break
            return records

        return self._watched(
            f"{game.name}: {variant.label}",
            table,
            play,
            repeats=number == 0 and game.name == self._games()[0].name,
        )

    def _rules(
        self,
        game: Game[Any, Any],
        probes: RuleProbes[Any],
        tried: Sequence[Variant],
        until: Deadline,
    ) -> None:
        """Lead the bot to each rule, and report the first few rules that it breaks."""
        name = f"{game.name}: the rules one by one"
        self._watcher.begin(name)
        coverage = RuleCoverage()
        broken: set[str] = set()
        listed = self._ready.legal != "none"
        for series in rule_series(probes, game, tried, listed=listed):
            table = self._table(game, series.variant)
            player = table.player(self._bot)
            try:
                for probe, record in play_series(series, table, player, probes, coverage):
                    if _failed_in(record):
                        self._break(table, probe, Deals([record], (), player.asked), broken)
                    if until.is_over() or len(broken) >= _MOST_BROKEN:
                        break
            except HostFailureError as error:
                self._add(Check(name=name, verdict="skipped", found=str(error)), table)
            finally:
                player.stop()
            if until.is_over() or len(broken) >= _MOST_BROKEN:
                break
        if not broken:
            self._add(Check(name=name, verdict="ok", found=_covered(coverage, until)))

    def _break(self, table: Table, probe: Probe, deals: Deals, broken: set[str]) -> None:
        """Report a fault in a constructed deal, once for each rule."""
        fault = deals.fault()
        if fault is None:
            raise RuntimeError("only a deal with a fault of the bot breaks a rule")
        rule = probe.point.partition(":")[0] if fault.kind == "illegal" else fault.kind
        if rule not in broken:
            broken.add(rule)
            name = f"{table.game.name}: {probe.point}"
            self._add(failed(name, fault, deals.request(fault), game=table.game.name), table)
        if fault.kind not in ("illegal", "malformed"):
            raise _HopelessError

    def _ask_which_games(self, game: Game[Any, Any]) -> None:
        """Warn that the bot may be meant for one game only, and should declare it."""
        if self._plan.game is None and not self._entrant.games:
            others = ", ".join(name for name in registry.BUNDLED if name != game.name)
            found = "its bot.yaml names no games, so all are tried"
            fix = f"if it is not meant to play {game.name}, write there games: [{others}]"
            self._add(Check(name=game.name, verdict="warning", found=found, fix=fix))

    def _instant(self, table: Table) -> None:
        seed = next((seed for seed in range(_SEARCHED) if table.state(seed).is_terminal()), None)
        if seed is not None:
            self._watched(
                f"{table.game.name}: a deal that the cards decide at once, then another",
                table,
                lambda bot: [table.play(bot, it) for it in (0, seed, 1)],
            )

    def _watched(
        self,
        name: str,
        table: Table,
        play: Callable[[RecordingPlayer], list[DealRecord]],
        *,
        repeats: bool = False,
        **arguments: Any,
    ) -> Check:
        """Play deals with a fresh process and report the check.

        Args:
            name: The name of the check.
            table: The table to play at.
            play: The function that plays the deals.
            repeats: Whether the first deal is the one that every process plays.
            arguments: More arguments for `Table.player`.
        """
        self._watcher.begin(name)
        spoilt = ""
        for played in range(PLAYS):
            player = table.player(self._bot, **arguments)
            player.decisive = played == PLAYS - 1
            try:
                deals = Deals(play(player), player.exchanges, player.asked)
            except HostFailureError as error:
                spoilt = str(error)
                continue
            finally:
                player.stop()
            strays = not self._strayed  # one warning is enough
            self._strayed = self._strayed or bool(deals.strays() or deals.second_answers())
            if repeats and deals.fault() is None:
                self._plays.add(deals.records[0].moves)
            return self._add(
                judged(
                    name, deals, table.settings.time.move_ms, strays=strays, game=table.game.name
                ),
                table,
            )
        return self._add(Check(name=name, verdict="skipped", found=spoilt))

    # Hard cases

    def _hard_cases(self, games: list[Game[Any, Any]]) -> None:
        table = self._usual_table(games[0])
        for name, transform in WIRE_VARIANTS.items():
            self._watched(
                name, table, lambda bot: [table.play(bot, 0)], repeats=True, transform=transform
            )
        self._watched(
            "ended in the middle of a deal and started again",
            table,
            lambda bot: [table.play(bot, 0)],
            lives=1,
        )
        for game in games:
            self._longest(game)
        self._repeats()
        self._lint(table)

    def _longest(self, game: Game[Any, Any]) -> None:
        variant = next(self._variants(game)) if self._plan.config else largest(game)
        name = f"{game.name}: a long message ({variant.label})"
        self._watcher.begin(name)
        table = self._table(game, variant)
        position = longest_position(table)
        player = table.player(self._bot)
        request = b""
        try:
            player.start()
            request = table.request(position, player.ready)
            table.ask(player, position, request)
        except Fault as fault:
            self._add(failed(name, fault, request or player.hello, game=game.name), table)
        except HostFailureError as error:
            self._add(Check(name=name, verdict="skipped", found=str(error)))
        else:
            found = f"it answered a line of {len(request)} bytes"
            one = player.exchanges[-1]
            self._add(answered(name, found, one, table.settings.time.move_ms), table)
        finally:
            player.stop()

    def _repeats(self) -> None:
        """Check that the same cards and the same seed always gave the same play."""
        name = "the same deal again in a new process"
        if len(self._plays) <= 1:
            self._add(Check(name=name, verdict="ok", found="it plays the same"))
            return
        self._add(
            Check(
                name=name,
                verdict="warning",
                found="it plays differently, so a tournament with it cannot be repeated",
                fix="seed all chance with the `seed` of each `deal`, and do a fixed amount of "
                "work instead of thinking until the clock",
            )
        )

    def _lint(self, table: Table) -> None:
        name = "output and ending"
        self._watcher.begin(name)
        lint = lint_output(self._bot, table, first_position(table), self._ready)
        remarks = lint.remarks(table)
        self._add(
            Check(
                name=name,
                verdict="warning" if remarks else "ok",
                found="; ".join(seen for seen, _ in remarks) or "tidy",
                fix="; ".join(fix for _, fix in remarks),
                received=quoted(b"".join(lint.lines)),
            )
        )
