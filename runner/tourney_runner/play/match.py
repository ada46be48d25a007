"""A match: what one table plays."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from tourney_runner.games.registry import game as find_game
from tourney_runner.play.deal import DealInPlay
from tourney_runner.play.faults import HostFailureError
from tourney_runner.play.match_end import match_over
from tourney_runner.play.player import PlayerSetup
from tourney_runner.play.pool import PlayerPool
from tourney_runner.play.seeds import bot_seed, deal_seed, match_seed
from tourney_runner.process.channel import Caps
from tourney_runner.process.launcher import ResourceLimits
from tourney_runner.protocol.lines import AnswerReader, encode
from tourney_runner.protocol.messages import VERSION, Hello, Limits
from tourney_runner.results.records import DealKey

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tourney_runner.games.base import GameOptions, State
    from tourney_runner.play.play_settings import BotSpec, MatchPlan, PlaySettings
    from tourney_runner.play.player import Player
    from tourney_runner.process.clock import Clock
    from tourney_runner.process.launcher import Launcher
    from tourney_runner.results.records import DealRecord

__all__ = ["REPEATS", "Tables", "dealt", "player_setup"]

_MOST_DEALS = 10_000
"""Of a match to a target: where nobody can reach it, it ends all the same."""

REPEATS = 3
"""How often a deal that the host has spoilt is played again."""


def dealt(settings: PlaySettings, key: DealKey, start: int | None) -> State[Any]:
    """The cards of a deal as they lay before the first move."""
    rules = find_game(settings.game)
    options: GameOptions = rules.options.model_validate(settings.rules)
    return _deal(rules, options, settings, key, start)


def _deal(
    rules: Any, options: GameOptions, settings: PlaySettings, key: DealKey, start: int | None
) -> State[Any]:
    cards = 0 if settings.duplicate else key.deal
    seed = deal_seed(settings.master_seed, key.round, key.match, cards)
    state: State[Any] = rules.new_state(options, seed, start)
    return state


def player_setup(
    settings: PlaySettings,
    launcher: Launcher,
    clock: Clock,
    *,
    waiting: Callable[[str], None] | None = None,
) -> PlayerSetup:
    """What all players at tables with these settings share; arguments as for `Tables`."""
    rules = find_game(settings.game)
    options: GameOptions = rules.options.model_validate(settings.rules)
    limits = Limits(
        start=settings.start_ms,
        move=settings.move_ms,
        bank=settings.bank_ms,
        output=settings.output,
        deal_output=settings.deal_output,
        memory=settings.memory,
    )
    return PlayerSetup(
        hello=encode(Hello(VERSION, settings.game, options.in_force(), limits)),
        reader=AnswerReader(rules.answer),
        launcher=launcher,
        clock=clock,
        start_limit=settings.start_ms * 1_000_000,
        resources=ResourceLimits(
            memory=settings.memory,
            file_size=settings.file_size,
            processes=settings.processes,
            temp_size=settings.temp,
        ),
        caps=Caps(
            output=settings.output,
            deal_output=settings.deal_output,
            stderr=settings.stderr,
            memory=settings.memory,
        ),
        strict=settings.strict,
        ponder=settings.ponder,
        waiting=waiting,
    )


class Tables:
    """Where matches are played: the rules and the bots of one worker.

    Args:
        settings: How to play.
        bots: All entrants.
        launcher: How bots are started.
        clock: Who pays for time.
        most_alive: How many bots may live at once.
        waiting: Called now and then with the name of the bot that a move waits for.
    """

    def __init__(  # noqa: PLR0913 - what differs from one worker to another
        self,
        settings: PlaySettings,
        bots: Sequence[BotSpec],
        launcher: Launcher,
        clock: Clock,
        *,
        most_alive: int,
        waiting: Callable[[str], None] | None = None,
    ) -> None:
        self._settings = settings
        self._game = find_game(settings.game)
        self._options = self._game.options.model_validate(settings.rules)
        setup = player_setup(settings, launcher, clock, waiting=waiting)
        self.pool = PlayerPool(bots, setup, most_alive)

    def play(self, plan: MatchPlan) -> Iterator[DealRecord]:
        """Play one match, deal by deal.

        Raises:
            SpoiltError: The host spoils a deal again and again.
        """
        players = self.pool.seat(plan.seats())
        if self._settings.duplicate:
            start = self._first_start(plan)
            yield self._play_deal(plan, players, plan.rotation, start, [0] * len(players))[0]
        else:
            yield from self._play_in_a_row(plan, players)
        if self._settings.restart == "match":
            self.pool.renew()

    def _first_start(self, plan: MatchPlan) -> int | None:
        lot = partial(match_seed, self._settings.master_seed, plan.round, plan.match)
        duplicate = bool(self._settings.duplicate)
        return self._game.first_start(self._options, lot, duplicate=duplicate)

    def _play_in_a_row(self, plan: MatchPlan, players: Sequence[Player]) -> Iterator[DealRecord]:
        """Fresh deals, each beginning where the one before left off, to `deals` or `target`."""
        settings = self._settings
        faults = [0] * len(players)
        totals = [0.0] * len(players)
        start = self._first_start(plan)
        number = 0
        while number < (settings.deals or _MOST_DEALS):
            record, start = self._play_deal(plan, players, number, start, faults)
            yield record
            number += 1
            totals = [have + more for have, more in zip(totals, record.points, strict=True)]
            if settings.target is not None and match_over(totals, settings.target):
                return

    def _play_deal(
        self,
        plan: MatchPlan,
        players: Sequence[Player],
        number: int,
        start: int | None,
        faults: list[int],
    ) -> tuple[DealRecord, int]:
        """Play a deal; again, with fresh processes, when the host has spoilt it."""
        voids: list[str] = []
        while True:
            before = list(faults)
            try:
                record, following = self._try_deal(plan, players, number, start, faults)
            except HostFailureError as error:
                for player in players:
                    player.stop()
                    player.notes.clear()  # they would be read as notes on a deal that counts
                faults[:] = before
                voids.append(str(error))
                if len(voids) > REPEATS:
                    raise
            else:
                if voids:
                    record = msgspec.structs.replace(record, voids=tuple(voids))
                return record, following

    def _try_deal(
        self,
        plan: MatchPlan,
        players: Sequence[Player],
        number: int,
        start: int | None,
        faults: list[int],
    ) -> tuple[DealRecord, int]:
        settings = self._settings
        key = DealKey(plan.round, plan.match, number)
        state = _deal(self._game, self._options, settings, key, start)
        seeds = [
            bot_seed(settings.master_seed, player.bot.name, key, seat)
            for seat, player in enumerate(players)
        ]
        deal = DealInPlay(
            self._game, state, key, players, seeds=seeds, settings=settings, faults_so_far=faults
        )
        record = deal.play(start, plan.retired)
        return record, state.next_start()
