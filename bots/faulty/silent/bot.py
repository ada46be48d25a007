"""Reads everything and never answers a move."""

from __future__ import annotations

import json
import sys

for line in sys.stdin:
    message = json.loads(line) if line.strip() else {}
    if message.get("type") == "hello":
        print('{"type": "ready", "name": "silent"}', flush=True)
