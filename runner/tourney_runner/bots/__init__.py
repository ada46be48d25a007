"""Prepare an entrant's folder for playing: hash it, copy it to the cache and build it.

`stage` takes an entrant of the configuration and returns a `Bot`, a plain value that workers and
results can hold. The cache keeps one read-only copy of each version.
"""

from __future__ import annotations

from tourney_runner.bots.staging import remove_unfinished, stage

__all__ = ["remove_unfinished", "stage"]
