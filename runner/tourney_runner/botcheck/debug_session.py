"""Deals for a bot under a debugger: no limits, no sandbox, and a pause at the start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tourney_runner.botcheck.check_report import OWN, Deals, judged
from tourney_runner.botcheck.check_settings import protection, stage_bot
from tourney_runner.botcheck.rule_check import Variant, variants
from tourney_runner.botcheck.trial_table import Table
from tourney_runner.games import registry
from tourney_runner.process.fair_clock import make_clock
from tourney_runner.process.launcher import PlainLauncher

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tourney_runner.botcheck.check_report import Check
    from tourney_runner.botcheck.check_settings import Plan
    from tourney_runner.config import Entrant
    from tourney_runner.games.base import Game
    from tourney_runner.play.play_settings import PlaySettings
    from tourney_runner.process.cgroup import Group
    from tourney_runner.process.child import Child
    from tourney_runner.process.launcher import Program, ResourceLimits
    from tourney_runner.results.records import DealRecord

__all__ = ["debug_bot"]

_WEEK_MS = 7 * 24 * 3600 * 1000
_ENOUGH = 1 << 30
"""More processes, or bytes of output, than a bot under a debugger has."""


class _PausingLauncher(PlainLauncher):
    """Starts bots without limits, and reports each process before it is sent `hello`.

    Args:
        pause: Called with the id of the process and the folder that it runs in; returns when the
            bot may go on.
    """

    def __init__(self, pause: Callable[[int, str], None]) -> None:
        super().__init__(limited=False)
        self._pause = pause

    def _start(self, program: Program, limits: ResourceLimits, group: Group | None) -> Child:
        child = super()._start(program, limits, group)
        try:
            self._pause(child.pid, program.folder)
        except BaseException:
            child.kill()
            raise
        return child


def debug_bot(
    entrant: Entrant, plan: Plan, deals: int, pause: Callable[[int, str], None]
) -> Iterator[Check]:
    """Play deals of each game in one process a game, and report each game.

    Args:
        entrant: The bot.
        plan: The games and rules.
        deals: The number of deals of each game.
        pause: Called with the id and the folder of each process before it is sent `hello`.

    Raises:
        UsageError: The bot cannot be built.
        HostFailureError: The host made a deal void.
    """
    bot = stage_bot(entrant, protection().launcher, OWN)  # only play is without limits
    names = [plan.game] if plan.game else entrant.games or registry.BUNDLED
    for game in map(registry.game, names):
        variant = _variant(game, plan)
        settings = _without_limits(plan.settings_for(game.name, variant.options))
        launcher = _PausingLauncher(pause)
        table = Table(game, variant.options, settings, launcher, make_clock("wall"))
        player = table.player(bot)
        records: list[DealRecord] = []
        try:
            for seed in range(deals):
                records.append(table.play(player, seed, seat=seed % variant.options.players))
                if records[-1].faults:
                    break
        finally:
            player.stop()
        played = Deals(records, player.exchanges, player.asked)
        name = f"{game.name}: {variant.label}, without limits"
        yield judged(name, played, settings.time.move_ms, strays=True, game=game.name)


def _variant(game: Game[Any, Any], plan: Plan) -> Variant:
    if plan.config is None:
        return next(variants(game))
    return Variant(f"{plan.config.options.players} players, as configured", plan.config.options)


def _without_limits(settings: PlaySettings) -> PlaySettings:
    return settings.with_changes(
        start_ms=_WEEK_MS,
        move_ms=_WEEK_MS,
        memory=None,
        processes=_ENOUGH,
        output=_ENOUGH,
        deal_output=_ENOUGH,
    )
