"""Parser of `config/sources.yaml`. Errors are `SettingsError`s with their location."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from found_footy.errors import SettingsError
from found_footy.feeds.espn import EspnLeague
from found_footy.feeds.models import RECONCILED, FeedSource, RateLimits

MAX_BYTES = 1_000_000
ADAPTERS = ("api_football", "espn", "crex", "recording")
EXPECTATIONS = {
    "model_type": "a group of fields with their values",
    "list_type": "a list",
    "too_short": "a list of at least one",
    "too_long": "a shorter list",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "float_type": "a number",
    "string_type": "a text",
}
"""Replacements for pydantic's error messages."""
SECRET_NAMES = frozenset({"key", "apikey", "password", "passwd", "token", "secret", "credentials", "authorization"})


def _http_url(text: str) -> str:
    try:
        parts = urlsplit(text)
    except ValueError:
        parts = None
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname or re.search(r"\s", text):
        raise ValueError("a URL that starts with http:// or https://")
    if "@" in parts.netloc:
        raise ValueError("a URL without user and password; those belong in the environment")
    return text


def _league(text: str) -> str:
    try:
        EspnLeague.of(text)
    except SettingsError:
        raise ValueError("a league such as soccer/eng.1 or cricket/8048") from None
    return text


def _feed_id(text: str) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9_-]{0,30}", text) or text == RECONCILED:
        raise ValueError(f"a name of up to 31 lower-case letters, digits, _ and -, other than {RECONCILED}")
    return text


def _adapter(text: str) -> str:
    """Parse `espn`, or a full class name such as `adapters.espn_adapter.EspnAdapter`."""
    short = text.rsplit(".", 1)[-1].removesuffix("Adapter")
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", short).lower()
    if name not in ADAPTERS:
        raise ValueError(", ".join(ADAPTERS))
    return name


Url = Annotated[str, AfterValidator(_http_url)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _Limits(_Model):
    max_concurrent_contexts: Annotated[int, Field(ge=1, le=1000)] = 4
    min_interval_seconds: Annotated[float, Field(ge=0, le=3600)] = 0.0
    burst_allowance: Annotated[int, Field(ge=1, le=10_000)] = 10


class _Metadata(_Model):
    model_config = ConfigDict(extra="allow")

    base_url: Url | None = None
    requires_js: bool | None = None
    leagues: Annotated[list[Annotated[str, AfterValidator(_league)]], Field(min_length=1, max_length=200)] | None = None
    cricinfo_url: Url | None = None
    path: Annotated[str, Field(min_length=1, max_length=1000)] | None = None


class _Source(_Model):
    domain_id: Annotated[str, AfterValidator(_feed_id)]
    enabled: bool = True
    precedence_weight: Annotated[int, Field(ge=0, le=100)] = 50
    rate_limits: _Limits = _Limits()
    adapter: Annotated[str, AfterValidator(_adapter)] | None = None
    adapter_class: Annotated[str, AfterValidator(_adapter)] | None = None
    follow: Literal["all", "paired"] = "all"
    metadata: _Metadata = _Metadata()

    def source(self) -> FeedSource:
        return FeedSource(
            id=self.domain_id,
            adapter=self.adapter or self.adapter_class or self.domain_id,
            enabled=self.enabled,
            precedence=self.precedence_weight,
            limits=RateLimits(
                self.rate_limits.max_concurrent_contexts,
                self.rate_limits.min_interval_seconds,
                self.rate_limits.burst_allowance,
            ),
            follow=self.follow,
            metadata=self.metadata.model_dump(exclude_none=True),
        )


class _SourcesFile(_Model):
    sources: Annotated[list[_Source], Field(min_length=1, max_length=100)]


def load_sources(path: Path) -> tuple[FeedSource, ...]:
    try:
        text = path.read_bytes()[: MAX_BYTES + 1].decode("utf-8")
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path}: invalid UTF-8 at byte {error.start}") from error
    if len(text) > MAX_BYTES:
        raise SettingsError(f"{path}: the file is larger than {MAX_BYTES} bytes")
    return parse_sources(text, str(path))


def parse_sources(text: str, name: str) -> tuple[FeedSource, ...]:
    """Parse the text of a sources file. `name` is the file name for error messages."""
    try:
        data = yaml.load(text, Loader=_StrictLoader)
    except (yaml.YAMLError, RecursionError) as error:
        raise SettingsError(f"{name}: invalid YAML: {error}") from error
    problems = list(_find_secrets(data, ""))
    if not problems:
        try:
            sources = _SourcesFile.model_validate(data).sources
        except ValidationError as error:
            problems = [_format_problem(detail) for detail in error.errors()]
        else:
            problems = list(_find_contradictions(sources))
    if problems:
        raise SettingsError("\n".join(f"{name}: {problem}" for problem in problems))
    return tuple(source.source() for source in sources)


class _StrictLoader(yaml.SafeLoader):
    """YAML loader that rejects aliases and duplicate keys, of which PyYAML would keep the last."""

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self.check_event(yaml.events.AliasEvent):
            raise yaml.composer.ComposerError(problem="aliases (*name) are not allowed here")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key) for key, _ in node.value]
        duplicate = next((key for key in keys if keys.count(key) > 1), None)
        if duplicate is not None:
            problem = f"duplicate field {duplicate!r}"
            raise yaml.constructor.ConstructorError(problem=problem, problem_mark=node.start_mark)
        return super().construct_mapping(node, deep)


def _find_secrets(data: Any, path: str) -> Iterator[str]:
    """Find secrets, which must not be in a file that is displayed and committed. Messages omit their values."""
    if isinstance(data, dict):
        for key, value in data.items():
            location = f"{path}.{key}".lstrip(".")
            if SECRET_NAMES & set(re.split(r"[^a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", str(key)).lower())):
                yield f"{location}: secrets are not allowed here: set it in the environment (API_FOOTBALL_KEY, …)"
            else:
                yield from _find_secrets(value, location)
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from _find_secrets(value, f"{path}[{index}]")


def _find_contradictions(sources: list[_Source]) -> Iterator[str]:
    seen: set[str] = set()
    for index, source in enumerate(sources):
        if source.domain_id in seen:
            yield f"sources[{index}].domain_id: {source.domain_id!r} is declared twice"
        seen.add(source.domain_id)
        adapters = {source.adapter, source.adapter_class} - {None}
        if len(adapters) > 1:
            both = f"{source.adapter!r} and {source.adapter_class!r}"
            yield f"sources[{index}].adapter: got {both} as adapter and adapter_class, expected one of the two"
        if not adapters and source.domain_id not in ADAPTERS:
            yield f"sources[{index}].adapter: got nothing, expected one of {', '.join(ADAPTERS)}"


def _format_problem(detail: ErrorDetails) -> str:
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in detail["loc"]).lstrip(".")
    if detail["type"] == "missing":
        return f"{path}: required field is missing"
    if detail["type"] == "extra_forbidden":
        group = _Limits if "rate_limits" in detail["loc"] else _Source if len(detail["loc"]) > 1 else _SourcesFile
        similar = difflib.get_close_matches(str(detail["loc"][-1]), group.model_fields, n=1)
        hint = f"did you mean {similar[0]}?" if similar else f"expected one of {', '.join(group.model_fields)}"
        return f"{path}: unknown field; {hint}"
    message = detail["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    allowed = EXPECTATIONS.get(detail["type"], message)
    return f"{path or '(the whole file)'}: got {_displayed(detail['input'])}, expected {allowed}"


def _displayed(value: Any) -> str:
    """Return the value as written, unless it may contain a password."""
    if value is None:
        return "nothing"
    text = re.sub(r"//[^/@\s]*@", "//…@", repr(value))
    return text if len(text) <= 80 else text[:77] + "..."
