"""From a scenario file to a checked `Scenario`; whatever is wrong is a `ScenarioError`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from found_footy.domain.errors import ScenarioError
from found_footy.simulator.checks import problems
from found_footy.simulator.espn_recording import Recording
from found_footy.simulator.problems import Problem
from found_footy.simulator.script import RecordingSource, Scenario

BUNDLED = Path(__file__).parent / "scenarios"


def bundled_names() -> list[str]:
    return sorted(path.stem for path in BUNDLED.glob("*.yaml"))


def load_scenario(path_or_name: str | Path) -> Scenario:
    """Load a bundled scenario by its name (`matchday`, `quick`), or a file by its path."""
    bundled = str(path_or_name) in bundled_names()
    path = BUNDLED / f"{path_or_name}.yaml" if bundled else Path(path_or_name)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        known = ", ".join(bundled_names())
        raise ScenarioError(f"{path}: cannot be read ({error}); bundled are {known}") from error
    scenario = parse_scenario(text, str(path))
    if scenario.recording is None:
        return scenario
    folder = (path.parent / scenario.recording.espn).resolve()
    Recording.load(folder)  # A broken file is to be told now, not when it is served.
    return scenario.model_copy(update={"recording": RecordingSource(espn=folder)})


def parse_scenario(text: str, name: str) -> Scenario:
    """Parse and check a scenario's YAML; `name` is the file's name for messages."""
    try:
        data = yaml.load(text, Loader=_UniqueKeys)
    except yaml.YAMLError as error:
        raise ScenarioError(f"{name}: not readable as YAML: {error}") from error
    try:
        scenario = Scenario.model_validate(data)
    except ValidationError as error:
        raise _error(name, [_problem(detail) for detail in error.errors()]) from error
    found = problems(scenario)
    if found:
        raise _error(name, found)
    return scenario


class _UniqueKeys(yaml.SafeLoader):
    """PyYAML lets the last of two equal keys win, which would lose goals without a word."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        mapping = super().construct_mapping(node, deep)
        if len(mapping) < len(node.value):
            keys = [self.construct_object(key) for key, _ in node.value]
            twice = next(key for key in keys if keys.count(key) > 1)
            problem = f"the field {twice!r} is there twice"
            raise yaml.constructor.ConstructorError(problem=problem, problem_mark=node.start_mark)
        return mapping


def _error(name: str, found: list[Problem]) -> ScenarioError:
    return ScenarioError("\n".join(f"{name}: {problem}" for problem in found))


def _problem(detail: ErrorDetails) -> Problem:
    path = _path(detail["loc"])
    if detail["type"] == "unknown_field":
        context = detail["ctx"]
        return Problem(f"{path}.{context['field']}".lstrip("."), context["given"], detail["msg"])
    if detail["type"] == "missing":
        return Problem(path, None, "a value; the field is required")
    allowed = detail["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    return Problem(path or "(the whole file)", detail["input"], allowed)


def _path(location: tuple[int | str, ...]) -> str:
    parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in location]
    return "".join(parts).lstrip(".")
