"""Play matches at the tables of one worker, and replay deals that the host made void."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import msgspec

from tourney_runner.games.registry import game as find_game
from tourney_runner.play.deal import DealInPlay
from tourney_runner.play.faults import HostFailureError, VoidTwiceError
from tourney_runner.play.game_errors import GameErrors
from tourney_runner.play.match_plan import is_over
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
    from tourney_runner.play.bot import Bot
    from tourney_runner.play.match_plan import MatchPlan
    from tourney_runner.play.play_settings import PlaySettings, TimeConfig
    from tourney_runner.play.player import Player
    from tourney_runner.process.clock import Clock
    from tourney_runner.process.launcher import Launcher
    from tourney_runner.results.records import DealRecord

__all__ = ["PLAYS", "Tables", "dealt", "next_start", "player_setup"]

PLAYS = 3
"""The maximum number of plays of a deal. Host delays make it void, except in the last play."""


def dealt(settings: PlaySettings, key: DealKey, start: int | None) -> State[Any]:
    """Return the state of a deal before its first move."""
    rules = find_game(settings.game)
    options: GameOptions = rules.options.stored(settings.rules)
    return _deal(rules, options, settings, key, start)


def _deal(
    rules: Any, options: GameOptions, settings: PlaySettings, key: DealKey, start: int | None
) -> State[Any]:
    cards = 0 if settings.match.duplicate else key.deal
    seed = deal_seed(settings.seed_of(key.round), key.round, key.match, cards)
    state: State[Any] = rules.new_state(options, seed, start)
    return state


def next_start(state: State[Any], start: int | None) -> int | None:
    """Return the `start` of the next deal of a match.

    Args:
        state: The deal at its end. If it was ended after `max_moves`, the next deal starts alike.
        start: The start of this deal.
    """
    return state.next_start() if state.is_terminal() else start


def player_setup(
    settings: PlaySettings,
    launcher: Launcher,
    clock: Clock,
    *,
    waiting: Callable[[str], None] | None = None,
    time: TimeConfig | None = None,
) -> PlayerSetup:
    """Return the setup shared by all players with these settings and time limits.

    Args:
        settings: As for `Tables`, like all others but the last.
        launcher: As above.
        clock: As above.
        waiting: As above.
        time: The time limits of the players; those of the settings if left out.
    """
    time = time or settings.time
    rules = find_game(settings.game)
    options: GameOptions = rules.options.stored(settings.rules)
    limits = Limits(
        start=time.start_ms,
        move=time.move_ms,
        bank=time.bank_ms,
        output=settings.limits.output,
        deal_output=settings.limits.deal_output,
        memory=settings.limits.memory,
    )
    return PlayerSetup(
        hello=encode(Hello(VERSION, settings.game, options.in_force(), limits)),
        reader=AnswerReader(rules.answer),
        launcher=launcher,
        clock=clock,
        start_limit=time.start_ms * 1_000_000,
        resources=ResourceLimits(
            memory=settings.limits.memory,
            file_size=settings.limits.file_size,
            processes=settings.limits.processes,
            temp_size=settings.limits.temp,
        ),
        caps=Caps(
            output=settings.limits.output,
            deal_output=settings.limits.deal_output,
            stderr=settings.limits.stderr,
            memory=settings.limits.memory,
        ),
        strict=settings.strict,
        ponder=settings.ponder,
        waiting=waiting,
    )


class Tables:
    """The tables of one worker, with the rules and the bots of a tournament.

    Args:
        settings: The settings of play.
        bots: All entrants.
        launcher: Starts the bots.
        clock: Measures the time charged to bots.
        most_alive: The maximum number of running bots.
        waiting: Called from time to time with the name of the bot that a move waits for.
    """

    def __init__(  # noqa: PLR0913 - what differs from one worker to another
        self,
        settings: PlaySettings,
        bots: Sequence[Bot],
        launcher: Launcher,
        clock: Clock,
        *,
        most_alive: int,
        waiting: Callable[[str], None] | None = None,
    ) -> None:
        self._settings = settings
        self._game = find_game(settings.game)
        self._options = self._game.options.stored(settings.rules)
        self._round = max((change.first_round for change in settings.time_changes), default=0)
        """The round whose time limits the running bots have. They are tried under the last ones."""
        self._setup = cache(partial(player_setup, settings, launcher, clock, waiting=waiting))
        self.pool = PlayerPool(bots, self._setup_of, most_alive)

    def play(
        self, plan: MatchPlan, *, alone: bool = True, voided: VoidTwiceError | None = None
    ) -> Iterator[DealRecord]:
        """Play one match, deal by deal, or the rest of it if it has begun.

        The caller may stop between two deals; `deal_replay.match_so_far` says how it goes on.

        Args:
            plan: The match.
            alone: Whether nothing else is played on this machine, so that the last play of a deal
                counts in any case.
            voided: The deal that was void before. Only its last play is left.

        Raises:
            VoidTwiceError: A deal was void twice while other matches may be running.
            HostFailureError: The host failed in every play of a deal.
        """
        self._change_times(plan.round)
        players = self.pool.seat(plan.seats())
        faults = [0] * len(players) if plan.so_far is None else list(plan.so_far.faults)
        match = _MatchInPlay(plan, players, faults, alone, voided)
        if self._settings.match.duplicate:
            yield self._play_deal(match, plan.rotation, self._first_start(plan))[0]
        else:
            yield from self._play_in_a_row(match)
        if self._settings.restart == "match":
            self.pool.renew()

    def _setup_of(self, bot: Bot) -> PlayerSetup:
        """Return the setup of a bot that is started now."""
        return self._setup(time=self._settings.time_of(self._round, bot.number))

    def _change_times(self, round_number: int) -> None:
        """Renew the bots if other time limits are in force, since `hello` states the limits."""
        if round_number == self._round:
            return
        changes = self._settings.time_changes_before
        if changes(round_number) != changes(self._round):
            self.pool.renew()
        self._round = round_number

    def _first_start(self, plan: MatchPlan) -> int | None:
        lot = partial(match_seed, self._settings.seed_of(plan.round), plan.round, plan.match)
        duplicate = bool(self._settings.match.duplicate)
        with GameErrors(self._game):
            return self._game.first_start(self._options, lot, duplicate=duplicate)

    def _play_in_a_row(self, match: _MatchInPlay) -> Iterator[DealRecord]:
        """Play new deals until `deals` or `target`. Each start value comes from the deal before."""
        before = match.plan.so_far
        number = 0 if before is None else before.deals
        totals = (0.0,) * len(match.players) if before is None else before.totals
        start = self._first_start(match.plan) if before is None else before.start
        while not is_over(self._settings.match, number, totals):
            record, start = self._play_deal(match, number, start)
            yield record
            number += 1
            totals = tuple([have + more for have, more in zip(totals, record.points, strict=True)])

    def _play_deal(
        self, match: _MatchInPlay, number: int, start: int | None
    ) -> tuple[DealRecord, int | None]:
        """Play a deal, and again with new processes if the host makes it void."""
        voids = match.voids_before(number)
        while True:
            before = list(match.faults)
            decisive = len(voids) == PLAYS - 1
            if decisive:
                match.stop_all(decisive=True)
            try:
                record, following = self._try_deal(match, number, start)
            except HostFailureError as error:
                match.stop_all()
                match.faults[:] = before
                voids.append(str(error))
                match.check_voids(number, voids, error)
                continue
            if decisive:
                match.stop_all()
            if voids:
                record = msgspec.structs.replace(record, voids=tuple(voids))
            return record, following

    def _try_deal(
        self, match: _MatchInPlay, number: int, start: int | None
    ) -> tuple[DealRecord, int | None]:
        settings, plan, players = self._settings, match.plan, match.players
        key = DealKey(plan.round, plan.match, number)
        master = settings.seed_of(key.round)
        seeds = [
            bot_seed(master, player.bot.name, key, seat) for seat, player in enumerate(players)
        ]
        with GameErrors(self._game, key):
            state = _deal(self._game, self._options, settings, key, start)
            deal = DealInPlay(
                self._game,
                state,
                key,
                players,
                seeds=seeds,
                settings=settings,
                faults_so_far=match.faults,
            )
            return deal.play(start, plan.retired), next_start(state, start)


@dataclass(frozen=True)
class _MatchInPlay:
    """A match in play, with the players at its table."""

    plan: MatchPlan
    players: Sequence[Player]
    faults: list[int]
    """Faults so far, by seat."""
    alone: bool
    """See `Tables.play`."""
    voided: VoidTwiceError | None
    """See `Tables.play`."""

    def voids_before(self, deal: int) -> list[str]:
        """Return the reasons why earlier plays of a deal were void."""
        if self.voided is None or self.voided.deal != deal:
            return []
        return list(self.voided.voids)

    def check_voids(self, deal: int, voids: Sequence[str], error: HostFailureError) -> None:
        """Raise the right error if a deal must not be played again here."""
        if len(voids) >= PLAYS:
            raise error
        if len(voids) == PLAYS - 1 and not self.alone:
            raise VoidTwiceError(deal, tuple(voids)) from error

    def stop_all(self, *, decisive: bool = False) -> None:
        """End all processes, so that the next deal is played with new ones.

        Args:
            decisive: Whether the result of the next deal counts even if the host delays it.
        """
        for player in self.players:
            player.stop()
            player.notes.clear()  # these notes must not end up with a deal that counts
            player.decisive = decisive
