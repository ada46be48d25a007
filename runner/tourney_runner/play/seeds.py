"""Seeds, derived by hashing the master seed and a place in the schedule.

A deal's cards depend only on the master seed and the deal's key, so any part of a tournament can
be played on any machine, in any order, or again. A bot's own seed comes from another branch of the
same hash and reveals nothing about the cards.
"""

from __future__ import annotations

import hashlib

__all__ = ["BOT_SEED_BITS", "bot_seed", "deal_seed", "match_seed", "seed_hash"]

BOT_SEED_BITS = 52
"""The size of a bot seed. It fits a double, the only number type of some languages."""


def _derive(path: str) -> int:
    text = f"tourney\x1f1\x1f{path}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big")


def deal_seed(master: str, round_number: int, match: int, deal: int) -> int:
    """Return the seed of a deal's cards. All rotations of a duplicate deal use `deal` 0."""
    return _derive(f"{master}\x1fdeal\x1f{round_number}\x1f{match}\x1f{deal}")


def match_seed(master: str, round_number: int, match: int) -> int:
    """Return the seed of a match's lots, such as the first dealer."""
    return _derive(f"{master}\x1fmatch\x1f{round_number}\x1f{match}")


def bot_seed(master: str, bot: str, place: tuple[int, int, int], seat: int) -> int:
    """Return the seed that is sent to a bot for its own randomness.

    Args:
        master: The master seed.
        bot: The name of the bot.
        place: (round, match, rotation or deal).
        seat: The seat of the bot.
    """
    round_number, match, deal = place
    path = f"{master}\x1fbot\x1f{bot}\x1f{round_number}\x1f{match}\x1f{deal}\x1f{seat}"
    return _derive(path) >> (128 - BOT_SEED_BITS)


def seed_hash(master: str) -> str:
    """Return the hash that is shown while a seed is secret."""
    return hashlib.sha256(master.encode()).hexdigest()
