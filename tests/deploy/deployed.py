"""What the files in `deploy/` name: commands, settings, ports, metrics."""

from __future__ import annotations

import configparser
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from tests.support.docs import REFERENCE, ROOT, table_rows, text_of

DEPLOY = ROOT / "deploy"
KUBERNETES = DEPLOY / "kubernetes" / "base"
VENDOR_METRICS = {"up"}
"""Metrics of Prometheus itself."""

_FUNCTIONS = {"histogram_quantile", "rate", "sum", "vector", "by", "on", "and", "or", "unless", "le"}


def files() -> list[Path]:
    return [path for path in sorted(DEPLOY.rglob("*")) if path.is_file()]


def load_yaml(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def compose() -> dict[str, Any]:
    document: dict[str, Any] = load_yaml(DEPLOY / "compose.yaml")
    return document


def manifests() -> list[dict[str, Any]]:
    """All objects of the kustomize base, without what kustomize generates."""
    names: list[str] = load_yaml(KUBERNETES / "kustomization.yaml")["resources"]
    return [each for name in names for each in yaml.safe_load_all((KUBERNETES / name).read_text(encoding="utf-8"))]


def pod_specs() -> dict[str, dict[str, Any]]:
    """By name of the Deployment or Job."""
    return {
        each["metadata"]["name"]: each["spec"]["template"]["spec"]
        for each in manifests()
        if each["kind"] in ("Deployment", "Job")
    }


def unit(path: Path) -> dict[str, dict[str, list[str]]]:
    """Sections of a systemd unit; an option may occur more than once."""
    found: dict[str, dict[str, list[str]]] = {}
    section: dict[str, list[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            section = found.setdefault(line.strip("[]"), {})
        elif line and not line.startswith("#"):
            name, equals, value = line.partition("=")
            if not equals:
                raise configparser.ParsingError(f"{path.name}: {line}")
            section.setdefault(name, []).append(value)
    return found


def units() -> dict[str, dict[str, dict[str, list[str]]]]:
    return {path.name: unit(path) for path in sorted((DEPLOY / "systemd").iterdir())}


def footy_commands() -> Iterator[tuple[str, list[str]]]:
    """Each `footy` command with the place that runs it."""
    for name, service in compose()["services"].items():
        if service["image"].startswith("found-footy"):
            yield f"compose.yaml: {name}", service["command"]
    for name, spec in pod_specs().items():
        for container in spec["containers"]:
            yield f"kubernetes: {name}", container["args"]
    for name, sections in units().items():
        for line in sections.get("Service", {}).get("ExecStart", []):
            program, *arguments = shlex.split(line)
            assert program.endswith("/footy"), name
            yield f"systemd: {name}", arguments


def alerts() -> list[dict[str, Any]]:
    document = load_yaml(DEPLOY / "prometheus" / "rules.yml")
    return [rule for group in document["groups"] for rule in group["rules"]]


def dashboards() -> dict[str, dict[str, Any]]:
    folder = DEPLOY / "grafana" / "dashboards"
    return {path.name: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))}


def documented_metrics() -> dict[str, set[str]]:
    """Labels by name of metric, as docs/reference/metrics.md lists them."""
    rows = [row for row in table_rows(text_of(REFERENCE / "metrics.md")) if re.match(r"(footy|scraper)_\w+$", row[0])]
    return {row[0]: set(re.findall(r"\w+", row[1])) for row in rows}


def series_of(expression: str) -> set[str]:
    """Names of metrics in a PromQL expression. Raises AssertionError if the expression is not well-formed."""
    for opening, closing in ("()", "{}", "[]"):
        assert expression.count(opening) == expression.count(closing), expression
    bare = re.sub(r'"[^"]*"', '""', expression)
    bare = re.sub(r"\{[^}]*\}|\[[^\]]*\]|\b(?:by|on) ?\([^)]*\)", " ", bare)
    assert re.fullmatch(r"[\w\s()+\-*/<>=!.,]*", bare), expression
    return set(re.findall(r"\b[a-z_][a-z0-9_]*\b", bare)) - _FUNCTIONS - {"e9"}


def labels_of(expression: str) -> set[str]:
    matchers = re.findall(r"(\w+)\s*(?:=~|!~|!=|=)\s*\"", expression)
    grouped = [name for names in re.findall(r"\b(?:by|on) ?\(([^)]*)\)", expression) for name in names.split(",")]
    return {name.strip() for name in (*matchers, *grouped)} - {"", "le"}


def metric_of(series: str) -> str | None:
    """The documented metric of a series such as `…_bucket`."""
    known = {*documented_metrics(), *VENDOR_METRICS}
    return next((name for name in (series, re.sub(r"_(bucket|count|sum)$", "", series)) if name in known), None)


def unknown_series(expression: str) -> set[str]:
    return {series for series in series_of(expression) if metric_of(series) is None}


def unknown_labels(expression: str) -> set[str]:
    documented = documented_metrics()
    allowed = {"job"} if "up" in series_of(expression) else set()
    for series in series_of(expression):
        allowed |= documented.get(metric_of(series) or "", set())
    return labels_of(expression) - allowed
