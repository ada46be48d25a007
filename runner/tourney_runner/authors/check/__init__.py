"""Trying a bot before a tournament does."""

from __future__ import annotations

from tourney_runner.authors.check.checker import check_bot
from tourney_runner.authors.check.plan import Plan, make_plan
from tourney_runner.authors.check.report import Check, Report, Timing, Watcher

__all__ = ["Check", "Plan", "Report", "Timing", "Watcher", "check_bot", "make_plan"]
