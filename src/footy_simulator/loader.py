"""Load and validate a scenario file; every problem is a `ScenarioError`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from footy_simulator.espn_recording import EspnRecording
from footy_simulator.scenario import RecordingSource, Scenario, ScenarioProblem
from footy_simulator.validation import validate_scenario
from found_footy.errors import ScenarioError

BUNDLED = Path(__file__).parent / "scenarios"


def bundled_scenarios() -> list[str]:
    return sorted(path.stem for path in BUNDLED.glob("*.yaml"))


def load_scenario(path_or_name: str | Path) -> Scenario:
    """Load a bundled scenario by name (`matchday`, `quick`) or a file by path."""
    bundled = str(path_or_name) in bundled_scenarios()
    path = BUNDLED / f"{path_or_name}.yaml" if bundled else Path(path_or_name)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        known = ", ".join(bundled_scenarios())
        raise ScenarioError(f"{path}: cannot be read ({error}); bundled are {known}") from error
    scenario = parse_scenario(text, str(path))
    if scenario.recording is None:
        return scenario
    folder = (path.parent / scenario.recording.espn).resolve()
    EspnRecording.load(folder)  # A broken file is to be told now, not when it is served.
    return scenario.model_copy(update={"recording": RecordingSource(espn=folder)})


def parse_scenario(text: str, name: str) -> Scenario:
    """Parse and validate a scenario's YAML; `name` is the file name in messages."""
    try:
        data = yaml.load(text, Loader=_UniqueKeys)
    except yaml.YAMLError as error:
        raise ScenarioError(f"{name}: not readable as YAML: {error}") from error
    try:
        scenario = Scenario.model_validate(data)
    except ValidationError as error:
        raise _error(name, [_problem(detail) for detail in error.errors()]) from error
    found = validate_scenario(scenario)
    if found:
        raise _error(name, found)
    return scenario


class _UniqueKeys(yaml.SafeLoader):
    """PyYAML keeps the last of two equal keys, which would silently lose goals."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        mapping = super().construct_mapping(node, deep)
        if len(mapping) < len(node.value):
            keys = [self.construct_object(key) for key, _ in node.value]
            twice = next(key for key in keys if keys.count(key) > 1)
            problem = f"the field {twice!r} is there twice"
            raise yaml.constructor.ConstructorError(problem=problem, problem_mark=node.start_mark)
        return mapping


def _error(name: str, found: list[ScenarioProblem]) -> ScenarioError:
    return ScenarioError("\n".join(f"{name}: {problem}" for problem in found))


def _problem(detail: ErrorDetails) -> ScenarioProblem:
    path = _path(detail["loc"])
    if detail["type"] == "unknown_field":
        context = detail["ctx"]
        return ScenarioProblem(f"{path}.{context['field']}".lstrip("."), context["given"], detail["msg"])
    if detail["type"] == "missing":
        return ScenarioProblem(path, None, "a value; the field is required")
    allowed = detail["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    return ScenarioProblem(path or "(the whole file)", detail["input"], allowed)


def _path(location: tuple[int | str, ...]) -> str:
    parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in location]
    return "".join(parts).lstrip(".")
