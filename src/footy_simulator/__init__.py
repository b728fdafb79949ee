"""Serve a scripted or recorded matchday over HTTP on loopback.

`load_scenario` reads a scenario file, `expected_outcome` computes what a consumer must have stored at the end, and
`Simulator` serves the scores, posts and clips of that matchday in the vendors' protocols.
"""

from footy_simulator.expectations import ExpectedEvent, ExpectedMatch, ExpectedOutcome
from footy_simulator.loader import bundled_scenarios, load_scenario
from footy_simulator.playback import PlaybackState
from footy_simulator.server import Simulator, serve_forever
from footy_simulator.truth import expected_outcome

__all__ = [
    "ExpectedEvent",
    "ExpectedMatch",
    "ExpectedOutcome",
    "PlaybackState",
    "Simulator",
    "bundled_scenarios",
    "expected_outcome",
    "load_scenario",
    "serve_forever",
]
