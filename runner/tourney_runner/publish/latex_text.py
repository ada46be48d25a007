"""Text for LaTeX that every engine compiles, whatever characters it has.

pdfLaTeX prints a letter with accents as such, and other characters that are not ASCII in Latin
letters or as ``U+XXXX``. LuaLaTeX and XeLaTeX print the character itself if the font has it.
"""

from __future__ import annotations

import re
import unicodedata

from anyascii import anyascii

from tourney_runner.text import without_controls

__all__ = ["MACRO", "latex_text", "plain_text"]

MACRO = (
    r"\providecommand{\tourneychar}[3]{\ifdefined\Umathchar"
    r"\iffontchar\font#1 #2\else#3\fi\else#3\fi}"
)
"""The definition of the command for characters that are not ASCII: code, character, replacement."""

_COMMANDS = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"{\char34}",  # some languages of babel make a command of it
    **{character: f"\\{character}" for character in "&%$#_{}"},
}
_LIGATURES = "-'`,!?"
"""Characters that must not join those after them."""
_ABOVE = {
    "\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0304": "=", "\u0306": "u",
    "\u0307": ".", "\u0308": '"', "\u030a": "r", "\u030b": "H", "\u030c": "v",
}  # fmt: skip
_BELOW = {"\u0323": "d", "\u0327": "c", "\u0331": "b"}
_LETTERS = {
    "ß": r"\ss{}",
    "æ": r"\ae{}",
    "Æ": r"\AE{}",
    "œ": r"\oe{}",
    "Œ": r"\OE{}",
    "ø": r"\o{}",
    "Ø": r"\O{}",
    "ł": r"\l{}",
    "Ł": r"\L{}",
    "\N{LATIN SMALL LETTER DOTLESS I}": r"\i{}",
    "±": r"$\pm$",
    "\N{MULTIPLICATION SIGN}": r"$\times$",
    "\N{EN DASH}": "--",
    "—": "---",
    "§": r"\S{}",
    "£": r"\pounds{}",
    "©": r"\copyright{}",
    "…": r"\ldots{}",
    "·": r"$\cdot$",
    "µ": r"$\mu$",
}


def latex_text(text: str) -> str:
    """Return text in which all commands are escaped; it needs `MACRO` before it."""
    whole = unicodedata.normalize("NFC", without_controls(text))
    return "".join(map(_character, whole))


def plain_text(latex: str) -> str:
    """Return the text from which `latex_text` made a piece of LaTeX."""
    marks = {"backslash": "\\", "asciitilde": "~", "asciicircum": "^", "less": "<", "greater": ">"}
    latex = re.sub(
        r"\\tourneychar\{\d+\}\{(.)\}\{(?:[^{}]|\{[^{}]*\}|\{\{[^{}]*\}\})*\}", r"\1", latex
    )
    latex = latex.replace(r"{\char34}", '"').replace(r"\textbar{}", "|")
    latex = re.sub(r"([-'`,!?])\{\}", r"\1", latex)
    found = re.compile(rf"\\text({'|'.join(marks)})\{{\}}|\\([&%$#_{{}}])")
    return found.sub(lambda match: marks.get(match[1] or "", match[2] or ""), latex)


def _character(character: str) -> str:
    if character.isascii():
        if character in _LIGATURES:
            return f"{character}{{}}"
        return _COMMANDS.get(character, character)
    return rf"\tourneychar{{{ord(character)}}}{{{character}}}{{{_replacement(character)}}}"


def _replacement(character: str) -> str:
    """Return what pdfLaTeX prints for a character that is not ASCII."""
    if character in _LETTERS:
        return _LETTERS[character]
    base, *marks = list(unicodedata.normalize("NFD", character))
    if marks and base.isascii() and base.isalpha():
        above = next((_ABOVE[mark] for mark in marks if mark in _ABOVE), None)
        below = next((_BELOW[mark] for mark in marks if mark in _BELOW), None)
        if above or below:
            letter = base if above is None else rf"\{above}{{{base}}}"
            return letter if below is None else rf"\{below}{{{letter}}}"
    latin = anyascii(character)
    if not latin.strip() or not latin.isprintable():
        return f"U+{ord(character):04X}"
    return "".join(map(_character, latin))
