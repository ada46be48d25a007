"""``tourney docs``: the guides, without a network."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["docs"]


def docs(
    topic: Annotated[
        str | None, typer.Argument(help="A guide; left out, all guides are listed.")
    ] = None,
) -> None:
    """Show a guide, such as organising or protocol."""
    import sys

    from tourney_runner.cli.terminal import stdout_console, write_exactly
    from tourney_runner.config.paths import guides
    from tourney_runner.errors import UsageError
    from tourney_runner.text import listed, nearest, shown

    known = guides()
    if topic is None:
        width = max(map(len, known), default=0)
        write_exactly("".join(f"{name:{width}}  {title}\n" for name, (title, _) in known.items()))
        return
    if topic not in known:
        raise UsageError(
            f"no guide {shown(topic)}{nearest(topic, known)}; there are {listed(known, 'and')}"
        )
    _, text = known[topic]
    if not sys.stdout.isatty():
        write_exactly(text)
        return
    from rich.markdown import Markdown

    console = stdout_console()
    with console.pager(styles=True):
        console.print(Markdown(text))
