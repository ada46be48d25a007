"""Sessions of a person against bots; their deals are stored like those of a tournament."""

from __future__ import annotations

import secrets
import shlex
import signal
from contextlib import ExitStack, closing
from functools import partial
from typing import TYPE_CHECKING

from rich.text import Text

from tourney_runner.botcheck.check_settings import protection, stage_bot
from tourney_runner.errors import Interrupted, RunError, UsageError
from tourney_runner.games.registry import game as find_game
from tourney_runner.human_play.human_player import Leaving, Person, agreed
from tourney_runner.play.bot import Bot
from tourney_runner.play.deal import DealInPlay
from tourney_runner.play.faults import HostFailureError
from tourney_runner.play.game_errors import loop_guard
from tourney_runner.play.match import PLAYS, dealt, next_start, player_setup
from tourney_runner.play.player import Player
from tourney_runner.play.seeds import bot_seed, match_seed
from tourney_runner.process.fair_clock import make_clock
from tourney_runner.results.records import DealKey
from tourney_runner.results.store import Store
from tourney_runner.results.tournament_record import EntrantRecord, Seed, TournamentRecord
from tourney_runner.run.results_folder import ResultsFolder
from tourney_runner.run.tournament_setup import (
    conditions,
    differing_rules,
    limits_line,
    play_settings,
)

if TYPE_CHECKING:
    from rich.console import Console

    from tourney_runner.human_play.play_setup import Invitation
    from tourney_runner.play.play_settings import PlaySettings
    from tourney_runner.process.launcher import Launcher
    from tourney_runner.results.records import DealRecord

__all__ = ["play"]

_PERSON = 0
"""The person's seat and entrant number."""


def play(
    invitation: Invitation, console: Console, *, fresh: bool = False, migrate: bool = True
) -> int:
    """Play until the person leaves.

    Args:
        invitation: The players, the game, and the folder of the deals.
        console: The terminal on which the table is drawn.
        fresh: Whether to move stored deals aside first.
        migrate: Whether deals of an earlier version may be converted.

    Returns:
        The number of finished deals; all of them are stored.

    Raises:
        UsageError: A bot cannot be built, or the folder holds other results.
        RunError: The disk fails, or the host spoils every deal.
        Interrupted: Ctrl-C was pressed.
    """
    guard = protection()
    staged = [
        stage_bot(entrant, guard.launcher, number)
        for number, entrant in enumerate(invitation.bots, _PERSON + 1)
    ]
    if guard.warning:
        console.print(Text(f"warning: {guard.warning}", style="yellow"))
    with ExitStack() as stack:
        folder = stack.enter_context(ResultsFolder(invitation.folder, fresh=fresh))
        if folder.moved_to is not None:
            console.print(Text(f"the old deals are in {folder.moved_to} now"))
        store = stack.enter_context(closing(Store(folder.database, create=True, migrate=migrate)))
        match = _Match(invitation, staged, store, console, guard.launcher)
        folder.begin()
        stack.callback(match.stop)
        try:
            return match.play()
        except KeyboardInterrupt as error:
            console.print()  # the line of the prompt, or of the terminal's ^C, is still open
            void = ", the unfinished one is void" if match.in_deal else ""
            raise Interrupted(
                f"finished deals are kept in {invitation.folder}{void}", signal.SIGINT
            ) from error


class _Match:
    """One sitting."""

    def __init__(
        self,
        invitation: Invitation,
        staged: list[Bot],
        store: Store,
        console: Console,
        launcher: Launcher,
    ) -> None:
        self._invitation = invitation
        self._store = store
        self._console = console
        self._launcher = launcher
        self.in_deal = False
        """Whether a deal is in progress."""
        self._clock = make_clock(invitation.config.clock)
        self._game = find_game(invitation.config.game)
        self._names = (invitation.person, *(bot.name for bot in staged))
        self._seed = self._seed_of_all_sittings()
        self._settings = self._play_settings()
        self._remember(staged)
        setup = player_setup(self._settings, launcher, self._clock)
        self._person = Person(
            Bot(name=invitation.person, number=_PERSON),
            setup,
            self._game,
            console,
            options=invitation.options,
            names=self._names,
            seat=_PERSON,
        )
        bots = [Player(bot, setup) for bot in staged]
        self._players: list[Player] = [self._person, *bots]

    def play(self) -> int:
        """Deal until the person leaves; return the number of finished deals."""
        match = max((record.key.match for record in self._store.records()), default=-1) + 1
        lot = partial(match_seed, self._seed.master, 0, match)
        start = self._game.first_start(self._invitation.options, lot, duplicate=False)
        number = 0
        self._console.print("type help at any time, hint to see what you may do, quit to leave")
        try:
            while True:
                self.in_deal = True
                record, start = self._deal(DealKey(0, match, number), start)
                self._store.add([record])
                self.in_deal = False
                self._tell_faults(record)
                number += 1
                if not agreed(self._console, "another deal? (Enter: yes, q: no)> ", default=True):
                    return number
        except Leaving:
            return number

    def stop(self) -> None:
        """End all bots."""
        for player in self._players:
            player.stop()

    def _deal(self, key: DealKey, start: int | None) -> tuple[DealRecord, int | None]:
        for played in range(PLAYS):
            for player in self._players:
                player.decisive = played == PLAYS - 1
            state = dealt(self._settings, key, start)
            self._person.sit(state)
            seeds = [
                bot_seed(self._seed.master, name, key, seat)
                for seat, name in enumerate(self._names)
            ]
            deal = DealInPlay(
                self._game,
                state,
                key,
                self._players,
                seeds=seeds,
                settings=self._settings,
                faults_so_far=[0] * len(self._players),
            )
            try:
                with loop_guard(self._game):
                    record = deal.play(start)
            except HostFailureError as error:
                self._console.print(Text(f"{error}; the cards are dealt again", style="yellow"))
                self.stop()
                continue
            return record, next_start(state, start)
        raise RunError("this machine fails again and again, so the deal cannot be played")

    def _tell_faults(self, record: DealRecord) -> None:
        """Print why bots failed, since their author may be the person at the table."""
        for name, fault in {self._names[one.seat]: one for one in record.faults}.items():
            words = ("tourney", "replay", str(self._invitation.folder), "--last-fault", name)
            text = f"{name} failed: {fault.kind}: {fault.cause}; all of it: {shlex.join(words)}"
            self._console.print(Text(text, style="yellow"), soft_wrap=True)

    def _play_settings(self) -> PlaySettings:
        return play_settings(self._invitation.config, self._seed).with_changes(
            rules=self._invitation.options.in_force(),
            duplicate=0,
            deals=None,
            target=None,
            own_times={},  # the numbers here are those of the table
        )

    def _seed_of_all_sittings(self) -> Seed:
        """Return the seed stored here at the first sitting; before that, the one to be stored."""
        given, before = self._invitation.seed, self._store.about_if_begun()
        if before is None:
            if given is None:
                return Seed(secrets.token_hex(16), secret=True)
            return Seed(given, secret=False)
        if given is not None and given != before.seed.master:
            raise UsageError(
                f"{self._invitation.folder}: the cards of the deals kept here come from another"
                " seed; leave --seed out to play on from that one, give --fresh to move them aside"
                " and begin again, or --out another folder"
            )
        return before.seed

    def _remember(self, staged: list[Bot]) -> None:
        """Store the record of this table, which must be the one of earlier sittings."""
        now = self._record(staged)
        before = self._store.about_if_begun()
        if before is not None and not _is_same_table(before, now):
            raise UsageError(
                f"{self._invitation.folder}: deals of another table are kept here, with other"
                " players, other rules or older versions of the bots; give --fresh to move them"
                " aside and begin again, or --out another folder"
            )
        self._store.begin(now)

    def _record(self, staged: list[Bot]) -> TournamentRecord:
        config, rules = self._invitation.config, self._settings.rules
        person = EntrantRecord(
            number=_PERSON, name=self._invitation.person, hash="", language="a person"
        )
        return TournamentRecord(
            kind="table",
            name=f"{self._invitation.person} at the table",
            game=config.game,
            rules=rules,
            differing=differing_rules(config.game, rules),
            play=self._settings.to_store(),
            limits=limits_line(config),
            seed=self._seed,
            schedule=None,
            clock=config.clock,
            rating=config.rating.constants(self._game.draw_probability),
            update=config.rating.updating,
            rank_by=config.rating.rank_by,
            entrants=(person, *(bot.record() for bot in staged)),
            conditions=conditions(self._launcher.describe(), self._clock.describe()),
        )


def _is_same_table(before: TournamentRecord, now: TournamentRecord) -> bool:
    """Return whether deals of two records can stand in one table."""
    return (before.kind, before.game, _players(before)) == (
        now.kind,
        now.game,
        _players(now),
    ) and find_game(now.game).options.stored(before.rules).in_force() == now.rules


def _players(record: TournamentRecord) -> list[tuple[str, str]]:
    return [(entrant.name, entrant.digits) for entrant in record.entrants]
