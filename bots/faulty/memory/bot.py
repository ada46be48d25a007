"""Takes memory without end, and uses it, when it is asked for its first move."""

from __future__ import annotations

import json
import sys

hoard: list[bytes] = []

for line in sys.stdin:
    message = json.loads(line) if line.strip() else {}
    if message.get("type") == "hello":
        print('{"type": "ready", "name": "memory"}', flush=True)
    elif message.get("type") == "move":
        while True:
            hoard.append(b"x" * 2**24)
