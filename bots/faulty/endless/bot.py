"""Prints lines without end when it is asked for its first move."""

from __future__ import annotations

import json
import sys

for line in sys.stdin:
    message = json.loads(line) if line.strip() else {}
    if message.get("type") == "hello":
        print('{"type": "ready", "name": "endless"}', flush=True)
    elif message.get("type") == "move":
        while True:
            print(64 * "still thinking ")
