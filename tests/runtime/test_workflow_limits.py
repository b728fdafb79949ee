"""No workflow can run forever: every start has an execution timeout, and every type an age from which it is stuck."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import found_footy
from found_footy.app import schedules, workflows
from found_footy.config import Settings
from found_footy.runtime.workflow_limits import WORKFLOW_LIMITS

SOURCE = Path(found_footy.__file__).parent
STARTS = {
    "start_workflow",
    "execute_workflow",
    "start_child_workflow",
    "execute_child_workflow",
    "ScheduleActionStartWorkflow",
}


def starts() -> Iterator[tuple[str, ast.Call]]:
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                if name in STARTS and "super()" not in ast.unparse(node.func):  # an interceptor passes on a start
                    yield f"{path.relative_to(SOURCE)}:{node.lineno}", node


def test_every_start_of_a_workflow_has_an_execution_timeout() -> None:
    found = list(starts())
    assert len(found) >= 12, "the walk finds the starts"
    without = [
        where
        for where, call in found
        if not any(
            each.arg == "execution_timeout" and not (isinstance(each.value, ast.Constant) and each.value.value is None)
            for each in call.keywords
        )
    ]
    assert without == []
    assert [id_ for id_, each in schedules(Settings()).items() if not each.action.execution_timeout] == []  # type: ignore[union-attr]


def test_every_workflow_has_an_age_from_which_it_is_stuck_before_it_is_ended() -> None:
    assert set(WORKFLOW_LIMITS) == {each.__name__ for each in workflows()}
    assert [name for name, limit in WORKFLOW_LIMITS.items() if limit.stuck_after >= limit.timeout] == []
