"""Trying a bot before a tournament does."""

from __future__ import annotations

from tourney_runner.botcheck.check_report import Check, Report, Timing, Watcher
from tourney_runner.botcheck.check_settings import Plan, make_plan
from tourney_runner.botcheck.checker import check_bot

__all__ = ["Check", "Plan", "Report", "Timing", "Watcher", "check_bot", "make_plan"]
