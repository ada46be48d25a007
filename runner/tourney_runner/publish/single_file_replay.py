"""A replay as a single self-contained file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from tourney_runner.play.play_settings import PlaySettings
from tourney_runner.publish.provenance import game_title
from tourney_runner.publish.rendering import asset, embedded, environment, single_file_policy
from tourney_runner.publish.replay_builder import ReplayBuilder, ranked_players
from tourney_runner.results.rulings import disqualified

if TYPE_CHECKING:
    from tourney_runner.publish.publish_options import PublishChoices
    from tourney_runner.results.store import Store

__all__ = ["replay_page"]


def replay_page(store: Store, number: int, choices: PublishChoices) -> str:
    """Return a page that contains its style, its script and its deal.

    Args:
        store: The results.
        number: The number of the deal in schedule order, from 1.
        choices: The choices for published pages.

    Raises:
        UsageError: There is no such deal.
    """
    about = store.about()
    settings = PlaySettings.of(store.about())
    names = [entrant.name for entrant in about.entrants]
    record = store.record(number)
    film = ReplayBuilder(settings, names, choices).film(number, record)
    out = disqualified(store)
    script = asset("viewer.js")
    return (
        environment()
        .get_template("replay.html")
        .render(
            title=choices.title or about.name,
            game=game_title(about.game),
            version=about.conditions.version,
            state="",
            description=f"{game_title(about.game)}: deal {number}, move by move",
            base="",
            here="",
            url=None,
            policy=single_file_policy([script]),
            inline={"style": Markup(asset("style.css")), "script": Markup(script)},  # noqa: S704
            film=film,
            data=embedded(film),
            result=ranked_players(film),
            rotated=bool(settings.duplicate),
            uncounted=[names[entrant] for entrant in record.seating if entrant in out],
            before="",
            after="",
        )
    )
