"""Single deals for checks: the bot in one seat, built-in random players in the others."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from tourney_runner.botcheck.recording_player import RecordingPlayer
from tourney_runner.games.base import IllegalActionError, MalformedAnswerError, seen_by
from tourney_runner.play.bot import Bot
from tourney_runner.play.deal import DealInPlay
from tourney_runner.play.in_process_players import HousePlayer, LocalPlayer
from tourney_runner.play.legal_cache import LegalLists
from tourney_runner.play.match import player_setup
from tourney_runner.protocol.lines import encode
from tourney_runner.protocol.messages import Deal, Move, MoveTime
from tourney_runner.results.records import DealKey

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tourney_runner.games.base import Game, GameOptions, State
    from tourney_runner.play.play_settings import PlaySettings
    from tourney_runner.play.player import PlayerSetup
    from tourney_runner.process.clock import Clock
    from tourney_runner.process.launcher import Launcher
    from tourney_runner.protocol.messages import Ready
    from tourney_runner.results.records import DealRecord

__all__ = ["Position", "Table", "first_position", "longest_position"]

_LONG_SEEDS = 2
"""The number of deals that are searched for a long message."""


class Position(NamedTuple):
    """A state with a player to move."""

    state: State[Any]
    events: list[Any]
    """All events so far, as the player to move has seen them."""


class Table(NamedTuple):
    """A table for checks under one set of rules."""

    game: Game[Any, Any]
    options: GameOptions
    settings: PlaySettings
    launcher: Launcher
    clock: Clock

    def setup(self) -> PlayerSetup:
        """The setup that all players at this table share."""
        return player_setup(self.settings, self.launcher, self.clock)

    def player(
        self,
        bot: Bot,
        *,
        transform: Callable[[bytes], bytes] = bytes,
        lives: int | None = None,
    ) -> RecordingPlayer:
        """Return the player of a bot, not yet started; see `RecordingPlayer` for the arguments."""
        return RecordingPlayer(bot, self.setup(), transform=transform, lives=lives)

    def play(self, player: RecordingPlayer, seed: int, *, seat: int = 0) -> DealRecord:
        """Play the deal of a seed to its end; the bot sits at `seat`, the others play at random.

        Raises:
            HostFailureError: The host made it void.
        """
        state = self.state(seed)
        house = {
            other: HousePlayer(
                Bot(name=f"house {other}", number=other + 1),
                self.setup(),
                self.game,
                _chance(seed, other),
            )
            for other in range(state.players)
            if other != seat
        }
        return self.play_state(state, seed, {seat: player, **house})

    def play_state(
        self, state: State[Any], seed: int, players: Mapping[int, RecordingPlayer | LocalPlayer]
    ) -> DealRecord:
        """Play freshly dealt cards to their end.

        Args:
            state: The cards.
            seed: The seed from which the bots' own seeds are drawn.
            players: The players by seat.

        Raises:
            HostFailureError: The host made it void.
        """
        for player in players.values():
            if isinstance(player, LocalPlayer):
                player.sit(state)
        seats = range(state.players)
        deal = DealInPlay(
            self.game,
            state,
            DealKey(0, 0, seed),
            [players[seat] for seat in seats],
            seeds=[_chance(seed, seat).getrandbits(52) for seat in seats],
            settings=self.settings,
            faults_so_far=[0] * state.players,
        )
        return deal.play(None)

    def greeting(self, position: Position) -> bytes:
        """Return the message that opens a deal, for the player to move."""
        state, seat = position.state, position.state.current_player
        return encode(Deal(seat, state.players, tuple(state.hand(seat)), seat, 1))

    def request(self, position: Position, ready: Ready) -> bytes:
        """Return request 1: the move of a position, with all events before it."""
        state, settings = position.state, self.settings
        legal, left_out = None, ""
        if ready.legal != "none":
            legal, left_out = LegalLists.of(self.game).list(state, ready.legal)
        return encode(
            Move(
                1,
                state.observation(state.current_player),
                [msgspec.Raw(msgspec.json.encode(event)) for event in position.events],
                MoveTime(settings.time.move_ms, settings.time.bank_ms),
                legal,
                not left_out,
                left_out or None,
            )
        )

    def ask(self, player: RecordingPlayer, position: Position, request: bytes) -> None:
        """Send a request to a bot that is ready, and check its answer by the rules.

        Raises:
            Fault: The bot fails.
            HostFailureError: The deal was void.
        """
        player.tell(self.greeting(position))
        answer, _ = player.ask(request, 1, self.settings.time.move_ms * 1_000_000)
        heard = player.exchanges[-1].answer
        try:
            position.state.read(answer)
        except MalformedAnswerError as error:
            raise player.fault("malformed", str(error), heard) from error
        except IllegalActionError as error:
            raise player.fault("illegal", str(error), heard) from error

    def state(self, seed: int) -> State[Any]:
        """Return the state that a seed deals."""
        start = self.game.first_start(self.options, lambda: seed, duplicate=True)
        state: State[Any] = self.game.new_state(self.options, seed, start)
        return state


def _chance(seed: int, seat: int) -> Random:
    return Random(f"{seed} {seat}")  # noqa: S311 - must be repeatable


def first_position(table: Table) -> Position:
    """Return the start of a deal that the cards do not decide at once."""
    seed = 0
    while (state := table.state(seed)).is_terminal():
        seed += 1
    return Position(state, [])


def longest_position(table: Table) -> Position:
    """Return a position with a long message and many legal plays, found by random play."""
    best, most = (0, 0), 0
    taken: list[list[Any]] = [[] for _ in range(_LONG_SEEDS)]
    for seed, actions in enumerate(taken):
        for choices in _random_play(table, seed, actions):
            if choices > most:
                best, most = (seed, len(actions)), choices
    seed, number = best
    state = table.state(seed)
    events = [state.apply_action(action) for action in taken[seed][:number]]
    seen = [seen_by(event, state.current_player) for event in events if event is not None]
    return Position(state, seen)


def _random_play(table: Table, seed: int, taken: list[Any]) -> Iterator[int]:
    """Play a deal at random; yield the number of legal plays before each action.

    The actions are added to `taken`. Listing the plays takes most of the time, so it is done once
    for each position.
    """
    state = table.state(seed)
    chance = _chance(seed, 0)
    while not state.is_terminal():
        choices = state.legal_actions("canonical").actions
        yield len(choices)
        action = state.fallback_action() if chance.random() < 0.5 else chance.choice(choices)
        taken.append(action)
        state.apply_action(action)
