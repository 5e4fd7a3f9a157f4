"""The marker test: which facts of a long story a prompt still holds, folded one call at a time or many at once."""

from app.llm.tokens import TokenCounter
from bench.figures import Aim, Figure
from bench.markers.plays import PLAYS, Played, stage
from bench.markers.report import by_age, by_layer, overview, share_held
from bench.markers.story import story
from bench.measuring import spread
from bench.session import Session
from bench.showing import console


def markers(session: Session) -> list[Figure]:
    """Prints three tables; the figures compare what a prompt holds after each play with one call at a time."""
    told = story(session.scale.marker_turns)
    scale = session.scale
    with stage(session.database("markers"), TokenCounter(), scale.marker_settings, scale.latency_s) as scene:
        played = [scene.play(play, told) for play in PLAYS]
    out = console()
    for table in (overview(played), by_layer(played), by_age(played)):
        out.print(table, "")
    return [_figure(one, played[0], len(told.turns)) for one in played[1:]]


def _figure(one: Played, first: Played, turns: int) -> Figure:
    held, floor = share_held(one.found), share_held(first.found)
    return Figure(
        scenario="markers",
        what=f"% of the facts of {turns:,} turns that a prompt holds, {one.play.name}",
        unit="%",
        value=spread([held]),
        floor_name=first.play.name,
        floor=spread([floor]),
        ratio=spread([held / floor]),
        aim=Aim("ratio", "at least", 0.9),
    )
