"""Crashes before it has said anything."""

from __future__ import annotations

raise SystemExit("crash-start: this bot always fails at its start")
