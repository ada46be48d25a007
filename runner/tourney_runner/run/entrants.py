"""The entrants of a run: configured bots, bots that joined before, late entrants, new versions.

A bot is known by the hash of everything that decides how it plays. One that is no longer entered,
or whose files have changed, plays on from the copy that was staged when it joined.
"""

from __future__ import annotations

import os
import shlex
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from tourney_runner.bots.cache import recall
from tourney_runner.bots.staging import stage_all, with_stored_hash
from tourney_runner.config import Entrant, read_bot
from tourney_runner.config.models import SkippedBot
from tourney_runner.errors import UsageError
from tourney_runner.games.registry import claims
from tourney_runner.play.bot import Bot
from tourney_runner.play.play_settings import BotTimeConfig
from tourney_runner.results.records import Decision
from tourney_runner.results.rulings import in_force
from tourney_runner.results.tournament_record import Stage
from tourney_runner.run.tournament_setup import make_stages
from tourney_runner.schedule.registry import format_class
from tourney_runner.text import escaped, shown, utc_now

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from pathlib import Path

    from tourney_runner.config import Config
    from tourney_runner.process.launcher import Launcher
    from tourney_runner.results.store import Store
    from tourney_runner.results.tournament_record import (
        EntrantRecord,
        OwnTime,
        Seed,
        TournamentRecord,
    )
    from tourney_runner.run.tournament import RunOptions
    from tourney_runner.run.worker_process import Checked
    from tourney_runner.schedule.field_changes import Stages

__all__ = [
    "Entrants",
    "absent",
    "entered",
    "kept_stages",
    "next_round",
    "present",
    "take_effect",
    "why_broken",
    "with_added",
]

_LINES = 20
_WIDTH = 500
"""The part of a bot's stdout and stderr that is shown."""


def next_round(store: Store) -> int:
    """Return the first round without stored deals, from which changes of the field take effect."""
    last = store.last_round()
    return 0 if last is None else last + 1


def kept_stages(store: Store) -> list[Stage]:
    """Return the stages of a tournament, one if its field has never changed."""
    record = store.tournament()
    return list(record.stages) or [Stage(tuple(range(len(record.entrants))), record.rounds or 0)]


def absent(store: Store) -> frozenset[int]:
    """Return the entrants that are in no further round, excluding benched ones."""
    return frozenset(
        decision.entrant
        for decision in in_force(store)
        if decision.from_round is not None and decision.kind != "benched"
    )


def present(store: Store, entrants: Iterable[int]) -> list[int]:
    """Return those of the given entrants that play on."""
    gone = absent(store)
    return [entrant for entrant in entrants if entrant not in gone]


def take_effect(store: Store, stages: Stages | None) -> Stages | None:
    """Apply the withdrawals whose day has come.

    Args:
        store: The results.
        stages: The stages of the tournament; None for a format without any.

    Returns:
        The stages after that, which are stored too.
    """
    today = datetime.now(UTC).date().isoformat()
    for decision in in_force(store):
        if decision.from_round is None and decision.since is not None and decision.since <= today:
            first = next_round(store)
            now = msgspec.structs.replace(decision, from_round=first)
            if stages is None:
                store.decide(now)
            else:
                stages = stages.without(decision.entrant, first)
                store.decide(now, stages=stages.stages)
    return stages


class AllBots(NamedTuple):
    """All bots that ever joined."""

    bots: list[Bot]
    """The bots by number; the files of those that no longer play may be gone."""
    versions: dict[str, str]
    """The configured name of each bot that joined as a new version, by its name here."""
    replaced: dict[int, str]
    """The name of the new version, by entrant that it replaces."""


def entered(folder: Path, config: Config) -> Entrant:
    """Return the bot of a folder as an untrusted entrant beside those of a configuration.

    Raises:
        ConfigError: The folder is wrong; the error lists all problems.
        UsageError: The bot does not play this game.
    """
    entrant = read_bot(folder)
    if not claims(entrant.games, config.game):
        raise UsageError(f"the bot {shown(entrant.name)} does not play {config.game}")
    return entrant


def with_added(entrants: Sequence[Entrant], added: Sequence[Entrant]) -> tuple[Entrant, ...]:
    """Return configured and added entrants; an added one replaces its namesake."""
    names = {entrant.name for entrant in added}
    kept = [entrant for entrant in entrants if entrant.name not in names]
    return tuple(
        entrant.model_copy(update={"number": number})
        for number, entrant in enumerate((*kept, *added))
    )


def match_bots(
    store: Store, staged: Sequence[Bot], new_versions: Collection[str], broken: Collection[str]
) -> AllBots:
    """Match the bots that are entered now with those that joined before.

    Args:
        store: The results.
        staged: Those of the configuration.
        new_versions: The names whose bots may have changed; then they join as new versions.
        broken: The names of bots that cannot be staged; their earlier versions play on.

    Returns:
        All bots. Missing bots and other changes are kept as they are, so that they are refused
        later.

    Raises:
        UsageError: The copy of a bot is needed and no longer exists.
    """
    record = store.tournament()
    before = record.bots
    versions = dict(record.versions)
    found: dict[str, Bot] = {}
    newcomers: list[Bot] = []
    replaced: dict[int, str] = {}
    taken = {name.casefold() for name in (*before, *(bot.name for bot in staged))}
    for bot in staged:
        family = [name for name in before if versions.get(name, name) == bot.name]
        same = [name for name in family if before[name].hash == bot.hash]
        if same:
            found[same[-1]] = msgspec.structs.replace(bot, name=same[-1])
        elif not family:
            newcomers.append(bot)
        elif bot.name in new_versions:
            name = _free(bot.name, taken)
            versions[name] = bot.name
            replaced[before[family[-1]].number] = name
            newcomers.append(msgspec.structs.replace(bot, name=name))
        else:
            found[family[-1]] = msgspec.structs.replace(bot, name=family[-1])
    kept_anyway = {*versions, *versions.values(), *record.added, *broken}
    gone = absent(store)
    for name, joined in before.items():
        if name not in found and joined.number in gone:
            found[name] = _as_granted(recall(joined.hash) or _shell(joined), joined)
        elif name not in found and name in kept_anyway:
            found[name] = _as_granted(_recalled(name, joined.hash), joined)
    in_order = sorted(found, key=lambda name: before[name].number)
    numbers = [before[name].number for name in in_order]
    numbers += range(len(before), len(before) + len(newcomers))
    bots = [
        msgspec.structs.replace(bot, number=number, name=name)
        for number, name, bot in zip(
            numbers,
            [*in_order, *(bot.name for bot in newcomers)],
            [*(found[name] for name in in_order), *newcomers],
            strict=True,
        )
    ]
    return AllBots(bots, versions, replaced)


def entrants_of(
    bots: Sequence[Bot],
    configured: Sequence[Entrant],
    versions: dict[str, str],
    before: TournamentRecord,
) -> tuple[Entrant, ...]:
    """Return the entrants of bots for display; their files are not read again.

    Args:
        bots: All bots, by number.
        configured: Those of the configuration.
        versions: See `AllBots`.
        before: The tournament as stored; bots that are no longer configured stay what they were.
    """
    known = {entrant.name: entrant for entrant in configured}
    names = {bot.name: versions.get(bot.name, bot.name) for bot in bots}
    return tuple(
        known[names[bot.name]].model_copy(update={"number": bot.number, "name": bot.name})
        if names[bot.name] in known
        else Entrant(
            number=bot.number,
            name=bot.name,
            folder=None,
            command=bot.command,
            language=bot.language,
            author=bot.author,
            team=before.bots[bot.name].team,
            reference=bot.name in before.references,
            time=_time_section(before.bots[bot.name].time),
            anchor=before.anchor.mu if before.anchor and before.anchor.name == bot.name else None,
        )
        for bot in bots
    )


def _time_section(own: OwnTime | None) -> BotTimeConfig | None:
    """Return stored time limits of a bot as a part of a configuration."""
    return None if own is None else BotTimeConfig(**msgspec.structs.asdict(own))


def _free(name: str, taken: set[str]) -> str:
    number = 2
    while (free := f"{name} v{number}").casefold() in taken:
        number += 1
    taken.add(free.casefold())
    return free


def _recalled(name: str, bot_hash: str) -> Bot:
    bot = recall(bot_hash)
    if bot is None:
        raise UsageError(
            f"the bot {shown(name)} plays on as it was when it joined (hash {bot_hash[:16]}), but"
            " that copy is no longer in the cache of staged bots; enter those files again with"
            " --add, or withdraw it"
        )
    return bot


def _as_granted(bot: Bot, joined: EntrantRecord) -> Bot:
    """Return a bot with its rights in this tournament; the cached ones may be of another."""
    if joined.rights is None:
        return bot
    return msgspec.structs.replace(bot, rights=joined.rights)


def _shell(joined: EntrantRecord) -> Bot:
    """Return the stored description of a bot that will not be started again."""
    return Bot(**joined.facts, folder=os.sep)


class Entrants:
    """The entrants of one run, which change while bots are staged and checked.

    Args:
        config: The configuration, with the added bots.
        options: The options of the run.
        store: The results so far.
        seed: The master seed.
        say: Shows a line to the user.
    """

    def __init__(
        self,
        config: Config,
        options: RunOptions,
        store: Store,
        seed: Seed,
        say: Callable[[str], None],
    ) -> None:
        self.config = config
        """The configuration with the entrants that take part."""
        self.skipped: list[str] = []
        """The names of the entrants that are left out."""
        self.versions: dict[str, str] = {}
        """See `AllBots.versions`."""
        self._options = options
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
        """Stage all bots; return the ready ones in order, and the reasons for others, by name."""
        if not self._options.new_versions:  # otherwise bots that were left out are newcomers
            skipped = self._before.skipped if self._before else ()
            self._leave_out(dict.fromkeys(skipped, "it could not start when this began"))
        bots, broken = stage_all(
            self.config.entrants,
            launcher=launcher,
            build_network=self.config.build_network,
            say=self._say,
        )
        if self._before is None:
            return [msgspec.structs.replace(bot, number=at) for at, bot in enumerate(bots)], broken
        entered = {entrant.name: entrant for entrant in self.config.entrants}
        stored = {bot.hash for bot in self._before.entrants}
        bots = [with_stored_hash(bot, entered[bot.name], stored) for bot in bots]
        found = match_bots(self._store, bots, self._may_change(), broken)
        self.versions, self._replaced = found.versions, found.replaced
        entrants = entrants_of(found.bots, self.config.entrants, found.versions, self._before)
        self.config = self.config.model_copy(update={"entrants": entrants})
        return found.bots, broken

    def change_field(self, bots: list[Bot]) -> None:
        """Plan the further rounds of a tournament that has begun for the present entrants."""
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
        """Return the numbers of the bots that will play."""
        return present(
            self._store, (bot.number for bot in bots if bot.number not in self._replaced)
        )

    def refuse(self, broken: dict[str, str]) -> None:
        """Refuse to run with bots that cannot start, unless they may be left out.

        Raises:
            UsageError: They may not be left out.
        """
        reasons = "\n".join(broken.values())
        joined = frozenset(self._before.bots if self._before else ())
        if broken.keys() & (joined - self._may_change()):
            raise UsageError(
                f"{reasons}\nThis tournament was begun with it, so it cannot be left out now. Fix"
                " it to continue, or give --fresh to begin again."
            )
        if not self._options.skip_broken:
            raise UsageError(
                f"{reasons}\nNothing was played. Fix this, or give --skip-broken to leave out what"
                " cannot start."
            )
        self._say(reasons)
        if self._before is not None:
            return
        left, players = len(self.config.entrants) - len(broken), self.config.options.players
        if left < players:
            raise UsageError(f"bots that can start: {left}, too few for a table of {players}")

    def without(self, bots: list[Bot], broken: dict[str, str]) -> list[Bot]:
        """Leave out the bots that cannot start; return the others.

        Raises:
            UsageError: They may not be left out.
        """
        self.refuse(broken)
        skipped = self.skipped
        self._leave_out(broken)
        left = [bot for bot in bots if bot.name not in broken]
        left = [msgspec.structs.replace(bot, number=at) for at, bot in enumerate(left)]
        if self._before is not None:  # the bots have not joined, and may join next time
            self.skipped = skipped
            self.versions = {new: old for new, old in self.versions.items() if new not in broken}
            self._replaced = {old: new for old, new in self._replaced.items() if new not in broken}
            self.change_field(left)
        return left

    def retire_replaced(self) -> None:
        """Withdraw the old versions of bots that joined as new ones."""
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
        """Return the names of bots that may join as new versions."""
        every = self.config.entrants if self._options.new_versions else self._options.added
        return frozenset(entrant.name for entrant in every)

    def _leave_out(self, reasons: dict[str, str]) -> None:
        """Leave out some of the entrants."""
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


def why_broken(checked: Sequence[Checked], bots: Sequence[Bot]) -> dict[str, str]:
    """Return the reasons why bots cannot start, by name.

    Args:
        checked: The outcome of each bot's start.
        bots: All bots, by number.
    """
    return {
        bots[outcome.entrant].name: _describe(outcome, bots[outcome.entrant])
        for outcome in checked
        if outcome.ready is None
    }


def _describe(outcome: Checked, bot: Bot) -> str:
    """Return the details for the bot's author, with the bot's own text escaped."""
    return (
        f"the bot {bot.name!r} cannot start: {escaped(outcome.cause, _WIDTH)}\n"
        f"  command: {escaped(shlex.join(bot.command), _WIDTH)}\n"
        f"  in: {escaped(bot.folder, _WIDTH)}\n"
        f"  its stdout:\n{_last_lines(outcome.stdout)}\n"
        f"  its stderr:\n{_last_lines(outcome.stderr)}"
    )


def _last_lines(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()][-_LINES:]
    return "\n".join(f"    {escaped(line, _WIDTH)}" for line in lines) or "    (nothing)"
