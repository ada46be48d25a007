"""Confine bots and builds: launchers for the sandboxes, and the choice among them."""

from __future__ import annotations

from tourney_runner.process.sandbox.build_command import BUILD_LIMITS, BuildResult, run_build
from tourney_runner.process.sandbox.probe_result import Finding
from tourney_runner.process.sandbox.selection import Mode, choose, probe, probe_groups, resolve

__all__ = [
    "BUILD_LIMITS",
    "BuildResult",
    "Finding",
    "Mode",
    "choose",
    "probe",
    "probe_groups",
    "resolve",
    "run_build",
]
