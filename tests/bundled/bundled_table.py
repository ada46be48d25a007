"""A table of real bot processes, as a tournament sets it up, to try the bundled bots."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from runner.bots import stage
from runner.config import load_config
from runner.play.match import Tables
from runner.play.settings import MatchPlan
from runner.process.clock import WallClock
from runner.process.launcher import PlainLauncher
from runner.run.prepare import draw_seed, play_settings, specs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.results.records import DealRecord

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
        folder: For the configuration and the staged bots; what was built there is used again.
    """

    folder: Path

    def __call__(
        self,
        bots: Sequence[str],
        rules: dict[str, Any],
        *,
        deals: int = 1,
        names: Sequence[str] | None = None,
        **settings: Any,
    ) -> list[DealRecord]:
        """Seat bots, folders below ``bots/``, at one table.

        Args:
            bots: By seat.
            rules: Of the game, with its name as ``game``.
            deals: So many fresh deals.
            names: By seat; a bot's own seed comes from its name.
            settings: Further keys of the configuration.
        """
        need_programs(*bots)
        rules = {"players": len(bots), **rules}
        names = names or [f"{bot.replace('/', '-')} {seat}" for seat, bot in enumerate(bots)]
        document = {
            "game": rules.pop("game"),
            "seed": 7,
            "rules": rules,
            "bots": [
                {"bot": str(BOTS / bot), "name": name}
                for bot, name in zip(bots, names, strict=True)
            ],
            "match": {"duplicate": False, "deals": deals},
            "time": {"start": "30s", "move": "10s"},
            **settings,
        }
        path = self.folder / "tournament.yaml"
        path.write_text(yaml.safe_dump(document))
        config = load_config(path)
        staged = [stage(entrant, self.folder / "cache") for entrant in config.entrants]
        tables = Tables(
            play_settings(config, draw_seed(config, None)),
            specs(staged),
            PlainLauncher(),
            WallClock(),
            most_alive=len(bots),
        )
        try:
            return list(tables.play(MatchPlan(1, 0, tuple(range(len(bots))))))
        finally:
            tables.pool.kill()
