"""The file that declares the score feeds: what it may say, and how each mistake is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from found_footy.errors import SettingsError
from found_footy.feeds.models import FeedSource, RateLimits
from found_footy.feeds.sources_file import ADAPTERS, load_sources, parse_sources

SHIPPED = Path(__file__).parents[2] / "config" / "sources.yaml"


def one(fields: str) -> FeedSource:
    (source,) = parse_sources(f"sources: [{{{fields}}}]", "feeds.yaml")
    return source


def test_the_shipped_file_declares_all_adapters_and_enables_only_keyless_ones() -> None:
    sources = {source.id: source for source in load_sources(SHIPPED)}
    assert {source.adapter for source in sources.values()} == set(ADAPTERS)
    assert {id_: (each.enabled, each.precedence) for id_, each in sources.items()} == {
        "api_football": (True, 100),
        "espn": (True, 80),
        "crex": (False, 90),
        "recording": (False, 10),
    }
    assert sources["espn"].metadata["leagues"] == ["cricket/8048"]
    assert not sources["espn"].names_football_leagues, "the follow list decides"


def test_each_field_is_read() -> None:
    text = """
    sources:
      - domain_id: second
        enabled: false
        precedence_weight: 7
        rate_limits: {max_concurrent_contexts: 30, min_interval_seconds: 0.5, burst_allowance: 50}
        adapter: espn
        follow: paired
        metadata: {base_url: "https://site.api.espn.com", leagues: [eng.1], requires_js: false, region: gb}
    """
    assert parse_sources(text, "feeds.yaml") == (
        FeedSource(
            "second",
            "espn",
            enabled=False,
            precedence=7,
            limits=RateLimits(30, 0.5, 50),
            follow="paired",
            metadata={
                "base_url": "https://site.api.espn.com",
                "leagues": ["eng.1"],
                "requires_js": False,
                "region": "gb",
            },
        ),
    )


def test_omitted_fields_have_defaults() -> None:
    assert one("domain_id: espn") == FeedSource("espn", "espn")


@pytest.mark.parametrize(
    ("given", "adapter"),
    [
        ("domain_id: crex", "crex"),
        ("domain_id: first, adapter: api_football", "api_football"),
        ("domain_id: first, adapter_class: adapters.crex_adapter.CrexAdapter", "crex"),
        ("domain_id: first, adapter_class: found_footy.feeds.api_football.ApiFootball", "api_football"),
        ("domain_id: first, adapter: espn, adapter_class: EspnAdapter", "espn"),
    ],
)
def test_an_adapter_may_be_called_by_its_name_or_its_class(given: str, adapter: str) -> None:
    assert one(given).adapter == adapter


@pytest.mark.parametrize(
    ("fields", "place", "words"),
    [
        ("enabled: true", "sources[0].domain_id", "required field is missing"),
        ("domain_id: ESPN", "sources[0].domain_id", "lower-case letters"),
        ("domain_id: reconciled", "sources[0].domain_id", "other than reconciled"),
        ("domain_id: 'a:b'", "sources[0].domain_id", "lower-case letters"),
        ("domain_id: 7", "sources[0].domain_id", "a text"),
        ("domain_id: other", "sources[0].adapter", "api_football, espn, crex, recording"),
        ("domain_id: other, adapter: crystal_ball", "sources[0].adapter", "api_football, espn, crex, recording"),
        ("domain_id: espn, adapter: crex, adapter_class: espn", "sources[0].adapter", "one of the two"),
        ("domain_id: espn, enabled: 'yes'", "sources[0].enabled", "true or false"),
        ("domain_id: espn, precedence_weight: 101", "sources[0].precedence_weight", "less than or equal to 100"),
        ("domain_id: espn, precedence_weight: '100'", "sources[0].precedence_weight", "a whole number"),
        ("domain_id: espn, precedence_wieght: 3", "sources[0].precedence_wieght", "did you mean precedence_weight?"),
        ("domain_id: espn, follow: some", "sources[0].follow", "'all' or 'paired'"),
        ("domain_id: espn, rate_limits: 7", "sources[0].rate_limits", "a group of fields"),
        ("domain_id: espn, rate_limits: {burst_allowance: 0}", "sources[0].rate_limits.burst_allowance", "equal to 1"),
        (
            "domain_id: espn, rate_limits: {burst: 5}",
            "sources[0].rate_limits.burst",
            "expected one of max_concurrent_contexts, min",
        ),
        (
            "domain_id: espn, rate_limits: {min_interval_seconds: .nan}",
            "sources[0].rate_limits.min_interval_seconds",
            "less than or equal to 3600",
        ),
        (
            "domain_id: espn, rate_limits: {max_concurrent_contexts: 1.5}",
            "sources[0].rate_limits.max_concurrent_contexts",
            "a whole number",
        ),
        ("domain_id: espn, metadata: {base_url: 'ftp://x'}", "sources[0].metadata.base_url", "http:// or https://"),
        ("domain_id: espn, metadata: {base_url: 'https://'}", "sources[0].metadata.base_url", "http:// or https://"),
        ("domain_id: espn, metadata: {leagues: []}", "sources[0].metadata.leagues", "at least one"),
        ("domain_id: espn, metadata: {leagues: [a/../b]}", "sources[0].metadata.leagues[0]", "soccer/eng.1"),
        ("domain_id: espn, metadata: {leagues: [tennis/atp]}", "sources[0].metadata.leagues[0]", "cricket/8048"),
        ("domain_id: espn, metadata: {leagues: eng.1}", "sources[0].metadata.leagues", "a list"),
    ],
)
def test_a_mistake_is_reported_with_its_path_and_the_allowed_values(fields: str, place: str, words: str) -> None:
    with pytest.raises(SettingsError) as raised:
        one(fields)
    assert str(raised.value).startswith(f"feeds.yaml: {place}: ")
    assert words in str(raised.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "(the whole file): got nothing"),
        ("[1, 2]", "(the whole file): got [1, 2]"),
        ("sources: []", "sources: got [], expected a list of at least one"),
        ("sources: 7", "sources: got 7, expected a list"),
        ("feeds: []", "feeds: unknown field"),
        ("sources: [", "invalid YAML"),
        ("sources: [{domain_id: espn, domain_id: crex}]", "duplicate field 'domain_id'"),
        ("sources: &all [*all]", "aliases"),
        ("sources: !!python/object/apply:os.system [ls]", "invalid YAML"),
        ("sources: [{domain_id: espn}, {domain_id: espn}]", "sources[1].domain_id: 'espn' is declared twice"),
        ("[" * 600, "invalid YAML"),
    ],
)
def test_a_file_without_the_expected_structure_is_rejected(text: str, words: str) -> None:
    with pytest.raises(SettingsError) as raised:
        parse_sources(text, "feeds.yaml")
    assert words in str(raised.value)


@pytest.mark.parametrize(
    "fields",
    [
        "metadata: {api_key: hunter2}",
        "metadata: {apiKey: hunter2}",
        "metadata: {headers: {Authorization: hunter2}}",
        "metadata: {login: [{password: hunter2}]}",
        "token: hunter2",
        "metadata: {base_url: 'https://me:hunter2@feed.test'}",
    ],
)
def test_a_secret_in_the_file_is_refused_with_advice_and_never_repeated(fields: str) -> None:
    with pytest.raises(SettingsError) as raised:
        one(f"domain_id: espn, {fields}")
    assert "environment" in str(raised.value)
    assert "hunter2" not in str(raised.value)


def test_all_mistakes_are_reported_at_once() -> None:
    with pytest.raises(SettingsError) as raised:
        parse_sources("sources: [{domain_id: espn, enabled: 3}, {domain_id: crex, follow: x}]", "feeds.yaml")
    assert [line.split(": ")[1] for line in str(raised.value).splitlines()] == [
        "sources[0].enabled",
        "sources[1].follow",
    ]


@pytest.mark.parametrize(
    ("content", "words"),
    [(None, "cannot be read"), (b"\xff\xfe", "invalid UTF-8"), (b"#" * 1_000_001, "larger than 1000000 bytes")],
)
def test_an_unreadable_file_is_reported(tmp_path: Path, content: bytes | None, words: str) -> None:
    path = tmp_path / "feeds.yaml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SettingsError, match=words) as raised:
        load_sources(path)
    assert str(path) in str(raised.value)
