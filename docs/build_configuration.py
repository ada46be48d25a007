"""Write the references of configuration and results: ``python docs/build_configuration.py``.

Every line comes from the models that read or write the files, so the pages cannot disagree with
them.
"""  # noqa: INP001 - a script beside what it writes

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from tourney_runner.config import config_schema
from tourney_runner.publish.documents import StandingsDocument, document_schema
from tourney_runner.publish.site_document import SiteDocument
from tourney_runner.schedule import registry as formats

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["PAGE", "RESULTS_PAGE", "build", "build_results", "main"]

PAGE = Path(__file__).resolve().parent / "configuration.md"
RESULTS_PAGE = PAGE.with_name("standings.md")
_DEFINITIONS = "#/$defs/"

_HEAD = """# Configuration reference

Made by `docs/build_configuration.py` from the program itself. `tourney schema config` prints the
same as a JSON Schema, with which editors complete and check the file. Times are written `500ms`,
`2s`, `1m`; sizes `64K`, `512M`, `1G`. Paths are relative to the file that they stand in.

[organising.md](organising.md) explains how the options work together;
`tourney games GAME` lists the rules of a game.
"""

_SECTIONS = (
    ("The tournament's file", "", None),
    ("`time:`", "TimeConfig", "The time that each bot has."),
    ("`limits:`", "LimitsConfig", "The resources that one bot may use."),
    ("`match:`", "MatchFile", "The deals that one table plays."),
    ("`rating:`", "RatingConfig", "The model behind the ratings."),
    (
        "`publish:`",
        "PublishConfig",
        "The content of the published pages. It may change at any time.",
    ),
    (
        "`bots:`, in the tournament's file only",
        "BotReference",
        "An entry is a folder, or a mapping:",
    ),
    (
        "`time:` in an entry of `bots:`",
        "BotTimeConfig",
        "The bot's own time limits. What is left out is as in the tournament.",
    ),
    (
        "`bot.yaml`",
        "BotManifest",
        "A bot's own file. An entry under `bots:` may hold the same keys.",
    ),
)


def build() -> str:
    """Return the page."""
    schema = config_schema()
    definitions = schema["$defs"]
    parts = [_HEAD]
    for title, name, text in _SECTIONS:
        model = definitions[name] if name else schema
        skipped = {"schedule"} if not name else set()
        parts.append("\n".join(_section(title, text, model, definitions, skipped)))
    for name in formats.names():
        kind = formats.format_class(name)
        model = definitions[kind.options.__name__]
        title = f"`schedule:` with `format: {name}`"
        parts.append(
            "\n".join(_section(title, f"{_sentence(kind.summary)}", model, definitions, {"format"}))
        )
    return "\n".join(parts)


_RESULTS_HEAD = """# Fields of standings.json and tournament.json

Made by `docs/build_configuration.py` from the program itself; `tourney schema standings` and
`tourney schema site` print the same as JSON Schemas. `standings.json` lies beside the results and
in the site. The same deals give the same bytes everywhere, so it has no dates. `tournament.json`
lies in the site and has everything that the pages show.
"""


def build_results() -> str:
    """Return the page on the files of results."""
    parts = [_RESULTS_HEAD]
    seen: set[str] = set()
    for title, document in (
        ("`standings.json`", StandingsDocument),
        ("`tournament.json`", SiteDocument),
    ):
        schema = document_schema(document)
        sections = [(title, schema), *schema["$defs"].items()]
        for name, model in sections:
            if name not in seen and "properties" in model:
                seen.add(name)
                heading = name if name == title else f"`{name}`"
                text = "" if name == title else model.get("description", "")
                parts.append("\n".join(_fields(heading, text, model)))
    return "\n".join(parts)


def _fields(title: str, text: str, model: dict[str, Any]) -> Iterator[str]:
    yield f"## {title}\n"
    if text:
        yield f"{_for_readers(text)}\n"
    yield "| field | type | meaning |"
    yield "| --- | --- | --- |"
    required = set(model.get("required", ()))
    for key, value in model["properties"].items():
        meaning = _for_readers(value.get("description", ""))
        if key not in required and "default" not in value:
            meaning = f"{meaning} May be missing.".strip()
        yield f"| `{key}` | {_type(value)} | {meaning} |"
    yield ""


def _for_readers(text: str) -> str:
    """Return a docstring without references into the code and with the words of JSON."""
    return re.sub(r",? see `[\w.]+`", "", _line(text)).replace("None", "`null`")


def _type(value: dict[str, Any]) -> str:
    if "$ref" in value:
        return f"`{value['$ref'].removeprefix(_DEFINITIONS)}`"
    if "anyOf" in value:
        return ", or ".join(dict.fromkeys(_type(part) for part in value["anyOf"]))
    if "enum" in value:
        return ", ".join(f"`{choice}`" for choice in value["enum"])
    if value.get("type") == "array":
        items = value.get("items") or (value.get("prefixItems") or [{}])[0]
        return f"list of {_type(items)}" if items else "list"
    if value.get("type") == "object":
        inside = value.get("additionalProperties")
        return f"mapping to {_type(inside)}" if isinstance(inside, dict) and inside else "mapping"
    names = {"string": "text", "boolean": "true or false", "null": "`null`"}
    kind = value.get("type", "any value")
    return names.get(kind, {"integer": "whole number"}.get(kind, kind))


def _section(
    title: str,
    text: str | None,
    model: dict[str, Any],
    definitions: dict[str, Any],
    skipped: set[str],
) -> Iterator[str]:
    yield f"## {title}\n"
    if text:
        yield f"{text}\n"
    yield "| key | values | default | meaning |"
    yield "| --- | --- | --- | --- |"
    required = set(model.get("required", ()))
    for key, value in model["properties"].items():
        if key in skipped:
            continue
        whole = _resolved(value, definitions)
        default = "required" if key in required else _default(value)
        meaning = value.get("description") or whole.get("description") or ""
        yield f"| `{key}` | {_values(value, definitions)} | {default} | {_line(meaning)} |"
    yield ""


def _resolved(value: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    reference = value.get("$ref")
    return definitions[reference.removeprefix(_DEFINITIONS)] if reference else value


def _values(value: dict[str, Any], definitions: dict[str, Any]) -> str:
    value = _resolved(value, definitions)
    if "anyOf" in value or "oneOf" in value:
        parts = (_values(part, definitions) for part in value.get("anyOf") or value["oneOf"])
        return ", or ".join(dict.fromkeys(parts))
    if "enum" in value:
        return ", ".join(f"`{_yaml(choice)}`" for choice in value["enum"])
    if "const" in value:
        return f"`{_yaml(value['const'])}`"
    kind = value.get("type", "string")
    names = {"string": "text", "boolean": "`true`, `false`", "null": "`null`", "array": "list"}
    return _number(kind, value) if kind in {"integer", "number"} else names.get(kind, "mapping")


def _number(kind: str, value: dict[str, Any]) -> str:
    low = value.get("minimum", value.get("exclusiveMinimum"))
    high = value.get("maximum", value.get("exclusiveMaximum"))
    bounds = [f"from {low:,}"] if low is not None else []
    bounds += [f"to {high:,}"] if high is not None else []
    return " ".join(["whole number" if kind == "integer" else "number", *bounds])


def _default(value: dict[str, Any]) -> str:
    default = value.get("default")
    if isinstance(default, dict) or "$ref" in value:
        return ""
    return "" if "default" not in value else f"`{_yaml(default)}`"


def _yaml(value: Any) -> str:
    text = yaml.safe_dump(value, default_flow_style=True, width=1000).strip()
    return text.removesuffix("...").strip()


def _line(text: str) -> str:
    return " ".join(text.replace("``", "`").split()).replace("|", "\\|")


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def main() -> None:
    """Write the pages."""
    PAGE.write_text(build(), encoding="utf-8")
    RESULTS_PAGE.write_text(build_results(), encoding="utf-8")
    sys.stdout.write(f"{PAGE}\n{RESULTS_PAGE}\n")


if __name__ == "__main__":
    main()
