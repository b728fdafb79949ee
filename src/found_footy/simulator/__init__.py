"""A scripted matchday, or a recorded one, over HTTP on loopback.

`load_scenario` reads a scenario file, `truth` tells what a consumer must know in the end, and `Simulator`
plays it as the score feed would.
"""

from found_footy.simulator.ground_truth import GroundTruth, TrueGoal, TrueMatch
from found_footy.simulator.loader import bundled_names, load_scenario
from found_footy.simulator.server import Simulator, serve_forever
from found_footy.simulator.state import PlaybackState
from found_footy.simulator.truth import truth

__all__ = [
    "GroundTruth",
    "PlaybackState",
    "Simulator",
    "TrueGoal",
    "TrueMatch",
    "bundled_names",
    "load_scenario",
    "serve_forever",
    "truth",
]
