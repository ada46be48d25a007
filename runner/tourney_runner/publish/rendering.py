"""Templates and assets of the pages; everything is escaped unless it is marked as safe."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from tourney_runner import text
from tourney_runner.publish.documents import TABLE_FORMAT
from tourney_runner.publish.statistics import FAULT_MEANINGS

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "ASSETS",
    "SITE_POLICY",
    "asset",
    "embedded",
    "environment",
    "single_file_policy",
]

ASSETS = ("style.css", "tables.js", "meetings.js", "viewer.js")
"""Files shared by all pages; the server has another of its own."""

# Browsers differ in the meaning of 'self' for local files, so `file:` is added.
SITE_POLICY = (
    "default-src 'none'; style-src 'self' file: 'unsafe-inline'; script-src 'self' file:;"
    " img-src 'self' file: data:; connect-src 'self'; base-uri 'none'; form-action 'none'"
)
"""The content security policy: pages load nothing from elsewhere and run no inline scripts."""


@cache
def environment() -> Environment:
    """Return the template environment of this package."""
    made = Environment(
        loader=PackageLoader("tourney_runner.publish"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals |= {name: getattr(text, name) for name in text.__all__}
    made.filters["sortable"] = _sortable
    made.globals |= {"FAULT_MEANINGS": FAULT_MEANINGS, "TABLE_FORMAT": TABLE_FORMAT}
    return made


def _sortable(value: object) -> object:
    """Return a sort key without digits that no reader sees; they make large pages heavy."""
    return f"{value:.7g}" if isinstance(value, float) else value


@cache
def asset(name: str) -> str:
    """Return a file that pages share, as text."""
    return (files("tourney_runner.publish") / "assets" / name).read_text(encoding="utf-8")


def embedded(value: object) -> Markup:
    """Return a value as JSON that is safe inside a script element, whatever its texts contain."""
    json = msgspec.json.encode(value).decode()
    for character in "<>&\u2028\u2029":
        json = json.replace(character, f"\\u{ord(character):04x}")
    return Markup(json)  # noqa: S704 - nothing is left in it that could end the element


def single_file_policy(scripts: Iterable[str]) -> str:
    """Return the policy of a page that contains its own style and exactly these scripts."""
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
        for script in scripts
    )
    return (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src {hashes}; img-src data:;"
        " base-uri 'none'; form-action 'none'"
    )
