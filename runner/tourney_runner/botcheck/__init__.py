"""A check of a bot before it enters a tournament.

A bot and a plan enter. A report leaves, with one entry for each check and advice for each fault.
"""

from __future__ import annotations

from tourney_runner.botcheck.check_report import Check, Report, Timing, Watcher
from tourney_runner.botcheck.check_settings import Plan, make_plan
from tourney_runner.botcheck.checker import check_bot

__all__ = ["Check", "Plan", "Report", "Timing", "Watcher", "check_bot", "make_plan"]
