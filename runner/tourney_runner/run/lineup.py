"""Who takes part in a run: whom the configuration names, less who cannot, and who joined before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from tourney_runner.config.models import SkippedBot
from tourney_runner.errors import UsageError
from tourney_runner.results.records import Decision
from tourney_runner.run.field import absent, kept_stages, next_round, present, take_effect
from tourney_runner.run.readiness import stage_all
from tourney_runner.run.roster import entrants_of, roster
from tourney_runner.run.tournament_setup import make_stages
from tourney_runner.schedule.registry import format_class
from tourney_runner.text import utc_now

if TYPE_CHECKING:
    from collections.abc import Callable

    from tourney_runner.bots import Bot
    from tourney_runner.config import Config
    from tourney_runner.process.launcher import Launcher
    from tourney_runner.results.store import Store
    from tourney_runner.results.tournament_record import Seed, Stage
    from tourney_runner.run.tournament import RunOptions
    from tourney_runner.schedule.field_changes import Stages

__all__ = ["Lineup"]


class Lineup:
    """The entrants of one run; it changes while they are staged and checked.

    Args:
        config: As configured, with the bots that are added.
        choices: How to run.
        store: The results so far.
        seed: The master seed.
        say: Where a line for the user goes.
    """

    def __init__(
        self,
        config: Config,
        choices: RunOptions,
        store: Store,
        seed: Seed,
        say: Callable[[str], None],
    ) -> None:
        self.config = config
        """With those entrants that take part."""
        self.skipped: list[str] = []
        """The names of those that are left out."""
        self.versions: dict[str, str] = {}
        """See `run.roster.Roster.versions`."""
        self._choices = choices
        self._store = store
        self._seed = seed
        self._say = say
        self._before = store.tournament_if_begun()
        self._stages: Stages | None = None
        self._replaced: dict[int, str] = {}

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stages of the tournament; none where the field has never changed."""
        return self._stages.stages if self._stages else ()

    def stage(self, launcher: Launcher) -> tuple[list[Bot], dict[str, str]]:
        """The bots that are ready, in order; why others are not, by name."""
        if not self._choices.new_versions:  # else who was left out is a newcomer
            skipped = self._before.skipped if self._before else ()
            self._leave_out(dict.fromkeys(skipped, "it could not start when this began"))
        bots, broken = stage_all(
            self.config.entrants, launcher=launcher, build_network=self.config.build_network
        )
        if self._before is None:
            return [msgspec.structs.replace(bot, number=at) for at, bot in enumerate(bots)], broken
        found = roster(self._store, bots, self._may_change(), broken)
        self.versions, self._replaced = found.versions, found.replaced
        entrants = entrants_of(found.bots, self.config.entrants, found.versions, self._before.bots)
        self.config = self.config.model_copy(update={"entrants": entrants})
        return found.bots, broken

    def change_field(self, bots: list[Bot]) -> None:
        """Plan the rounds to come, in a tournament that has begun, for those that are here now."""
        if self._before is None:
            return
        before, rounds = len(self._before.entrants), self._before.rounds or 0
        if len(bots) == before and not format_class(self.config.schedule.format).staged:
            take_effect(self._store, None)
            return
        kept = kept_stages(self._store)
        names = tuple(bot.name for bot in bots)
        begun = make_stages(self.config, self._seed, names, kept, self._before.format_rules)
        stages = take_effect(self._store, begun) or begun
        for old in self._replaced:
            stages = stages.without(old, next_round(self._store))
        here = [one for one in present(self._store, range(before)) if one not in self._replaced]
        for newcomer in range(before, len(bots)):
            stages = stages.joined(here, newcomer, next_round(self._store))
            here.append(newcomer)
        more = (self.config.schedule.rounds or 0) - rounds
        self._stages = stages.extended(here, more) if more > 0 else stages

    def to_check(self, bots: list[Bot]) -> list[int]:
        """The numbers of the bots that will play."""
        return present(
            self._store, (bot.number for bot in bots if bot.number not in self._replaced)
        )

    def refuse(self, broken: dict[str, str]) -> None:
        """Stop because of bots that cannot start, unless they may be left out.

        Raises:
            UsageError: They may not.
        """
        reasons = "\n".join(broken.values())
        joined = frozenset(self._before.bots if self._before else ())
        if broken.keys() & (joined - self._may_change()):
            raise UsageError(
                f"{reasons}\nThis tournament was begun with it, so it cannot be left out now. Mend"
                " it to continue, or give --fresh to begin again."
            )
        if not self._choices.skip_broken:
            raise UsageError(
                f"{reasons}\nNothing was played. Mend this, or give --skip-broken to leave out what"
                " cannot start."
            )
        self._say(reasons)
        if self._before is not None:
            return
        left, players = len(self.config.entrants) - len(broken), self.config.options.players
        if left < players:
            raise UsageError(f"bots that can start: {left}, too few for a table of {players}")

    def without(self, bots: list[Bot], broken: dict[str, str]) -> list[Bot]:
        """The bots that are left when those that cannot start are left out.

        Raises:
            UsageError: They may not be.
        """
        self.refuse(broken)
        skipped = self.skipped
        self._leave_out(broken)
        left = [bot for bot in bots if bot.name not in broken]
        left = [msgspec.structs.replace(bot, number=at) for at, bot in enumerate(left)]
        if self._before is not None:  # they have not joined, and may the next time
            self.skipped = skipped
            self.versions = {new: old for new, old in self.versions.items() if new not in broken}
            self._replaced = {old: new for old, new in self._replaced.items() if new not in broken}
            self.change_field(left)
        return left

    def retire_replaced(self) -> None:
        """Withdraw the old versions of bots that have joined as new ones."""
        before, stages = self._before, self._stages
        if before is None or stages is None:
            return
        gone = absent(self._store)
        for old, new in self._replaced.items():
            if old not in gone:
                first = next_round(self._store)
                kept = kept_stages(self._store)
                left = stages.like(kept).without(old, first).stages
                self._store.decide(
                    Decision(
                        0, utc_now(), "withdrawn", old, f"replaced by {new}", from_round=first
                    ),
                    stages=left,
                )

    def _may_change(self) -> frozenset[str]:
        """The names of bots that may join as new versions of themselves."""
        every = self.config.entrants if self._choices.new_versions else self._choices.added
        return frozenset(entrant.name for entrant in every)

    def _leave_out(self, reasons: dict[str, str]) -> None:
        """Go on without some of the entrants."""
        left = [entrant for entrant in self.config.entrants if entrant.name not in reasons]
        out = [SkippedBot(name=name, why=why.splitlines()[0]) for name, why in reasons.items()]
        self.skipped = sorted(reasons)
        self.config = self.config.model_copy(
            update={
                "entrants": tuple(
                    entrant.model_copy(update={"number": at}) for at, entrant in enumerate(left)
                ),
                "skipped": (*self.config.skipped, *out),
            }
        )
