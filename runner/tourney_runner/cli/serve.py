"""``tourney serve``: look at a site, also while it is being written."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["serve"]


def serve(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A folder of results, or of a published site.")
    ],
    *,
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS", help="The address to listen on; 0.0.0.0 shows it to others."
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65_535, help="0 takes any that is free.")
    ] = 8000,
) -> None:
    """Serve the site to a browser, also during a run.

    The pages reload when they have been written again: with `tourney run --live` in another
    terminal they follow the tournament. Only the site is shown: no results file, no logs.
    """
    from contextlib import closing, suppress

    from tourney_runner.publish.result_files import write_files
    from tourney_runner.publish.serve import SiteServer
    from tourney_runner.publish.site_folder import SITE_FOLDER, is_site
    from tourney_runner.results.store import FILE_NAME, Store

    site = folder if is_site(folder) else folder / SITE_FOLDER
    if not is_site(site):
        with closing(Store(folder / FILE_NAME)) as store:
            write_files(folder, store)
    with SiteServer(site, host, port) as server, suppress(KeyboardInterrupt):
        typer.echo(f"{server.address} shows {site}; Ctrl-C ends it")
        server.serve_forever()
