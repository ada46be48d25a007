"""A table of real bot processes, as a tournament sets it up, to try the bundled bots."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from tourney_runner.bots import stage
from tourney_runner.config import load_config
from tourney_runner.play.match import Tables
from tourney_runner.play.match_plan import MatchPlan
from tourney_runner.process.clock import WallClock
from tourney_runner.process.launcher import PlainLauncher
from tourney_runner.run.tournament_setup import draw_seed, play_settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tourney_runner.config import Config
    from tourney_runner.config.models import Entrant
    from tourney_runner.play.bot import Bot
    from tourney_runner.results.records import DealRecord

__all__ = ["BOTS", "CONFIGS", "NEEDS", "Play", "need_programs"]

ROOT = Path(__file__).parents[2]
BOTS = ROOT / "bots"
CONFIGS = ROOT / "configs"

NEEDS: dict[str, tuple[str, ...]] = {
    "javascript": ("node",),
    "c": ("gcc",),
    "cpp": ("g++",),
    "rust": ("rustc",),
    "java": ("javac", "java"),
    "perl": ("perl",),
    "ruby": ("ruby",),
    "lua": ("lua",),
}
"""The programs that the bots in other languages than Python need."""


def need_programs(*bots: str) -> None:
    """Skip the test if this machine lacks the compiler or interpreter of one of the bots."""
    for bot in bots:
        for program in NEEDS.get(bot, ()):
            if which(program) is None:
                pytest.skip(f"bots/{bot} needs {program}, which is not installed")


@dataclass(frozen=True)
class Play:
    """Plays deals.

    Args:
        folder: For configurations.
        cache: Of staged bots; what was built there is used again.
    """

    folder: Path
    cache: Path

    def __call__(
        self,
        bots: Sequence[str],
        rules: dict[str, Any],
        *,
        deals: int = 1,
        matches: int = 1,
        names: Sequence[str] | None = None,
        **settings: Any,
    ) -> list[DealRecord]:
        """Seat bots at one table.

        Args:
            bots: By seat, folders below ``bots/`` or absolute paths.
            rules: Of the game, with its name as ``game``.
            deals: So many fresh deals in a match.
            matches: How many matches.
            names: By seat; a bot's own seed comes from its name.
            settings: Further keys of the configuration.
        """
        need_programs(*bots)
        match = {"duplicate": False, "deals": deals}
        config = self._configured(bots, rules, names, match=match, **settings)
        tables = Tables(
            play_settings(config, draw_seed(config, None)),
            [self._staged(entrant) for entrant in config.entrants],
            PlainLauncher(),
            WallClock(),
            most_alive=len(bots),
        )
        try:
            seating = tuple(range(len(bots)))
            plans = [MatchPlan(1, match, seating) for match in range(matches)]
            return [record for plan in plans for record in tables.play(plan)]
        finally:
            tables.pool.kill()

    def staged(self, bot: str) -> Bot:
        """One bot, ready to be started."""
        need_programs(bot)
        return self._staged(self._configured([bot] * 2, {"game": "tienlen"}, None).entrants[0])

    def _staged(self, entrant: Entrant) -> Bot:
        return stage(entrant, self.cache)

    def _configured(
        self,
        bots: Sequence[str],
        rules: dict[str, Any],
        names: Sequence[str] | None,
        **settings: Any,
    ) -> Config:
        names = names or [f"{Path(bot).name} {seat}" for seat, bot in enumerate(bots)]
        options = {"players": len(bots), **rules}
        document = {
            "game": options.pop("game"),
            "seed": 7,
            "rules": options,
            "bots": [
                {"bot": str(BOTS / bot), "name": name}
                for bot, name in zip(bots, names, strict=True)
            ],
            "time": {"start": "30s", "move": "10s"},
            **settings,
        }
        path = self.folder / "tournament.yaml"
        path.write_text(yaml.safe_dump(document))
        return load_config(path)
