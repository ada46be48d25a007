"""A tournament runner for bot competitions in shedding card games."""

__version__ = "0.1.0"
