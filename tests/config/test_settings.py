"""Where settings come from, what the demo changes, and that secrets stay secret."""

from __future__ import annotations

from pathlib import Path

import pytest

from found_footy.config import DEMO, Settings, apply_demo_profile, environment_names, load_settings
from found_footy.errors import SettingsError
from found_footy.fixtures.activities import debounce_rules

SECRET = "s3cr3t-value"


def test_without_any_setting_the_defaults_hold() -> None:
    settings = load_settings()
    assert (settings.poll_seconds, settings.debounce_polls, settings.drop_polls) == (30, 3, 3)
    assert (settings.profile, settings.feed, settings.data_dir) == ("default", None, Path(".footy"))


@pytest.mark.parametrize(
    ("name", "value", "field", "expected"),
    [
        ("FOOTY_POLL_SECONDS", "12.5", "poll_seconds", 12.5),
        ("footy_poll_seconds", "12.5", "poll_seconds", 12.5),
        ("FOOTY_WORKERS", "64", "workers", 64),
        ("FOOTY_FEED_TIMEOUT_SECONDS", "60", "feed_timeout_seconds", 60),
        ("FOOTY_TRACKED_TEAMS", "40, 50,,  541 ,", "tracked_teams", (40, 50, 541)),
        ("FOOTY_TRACKED_TEAMS", "", "tracked_teams", ()),
        ("FOOTY_TRACKED_LEAGUES", "39", "tracked_leagues", (39,)),
        ("FOOTY_ESPN_LEAGUES", " eng.1 ,ger.1", "espn_leagues", ("eng.1", "ger.1")),
        ("FOOTY_FOLLOW", "Premier League, La Liga ,top5", "follow", ("Premier League", "La Liga", "top5")),
        ("LOG_LEVEL", "DEBUG", "log_level", "DEBUG"),
        ("FOOTY_LOG_LEVEL", "DEBUG", "log_level", "DEBUG"),
        ("TEMPORAL_ADDRESS", "[::1]:7233", "temporal_address", "[::1]:7233"),
        ("TEMPORAL_ADDRESS", "", "temporal_address", ""),
        ("FOOTY_API_FOOTBALL_URL", "http://127.0.0.1:9", "api_football_url", "http://127.0.0.1:9"),
        ("FOOTY_DATA_DIR", "/var/lib/footy", "data_dir", Path("/var/lib/footy")),
    ],
)
@pytest.mark.parametrize("place", ["environment", ".env"])
def test_a_setting_is_read_from_the_environment_or_the_env_file(
    monkeypatch: pytest.MonkeyPatch, folder: Path, name: str, value: str, field: str, expected: object, place: str
) -> None:
    if place == ".env":
        (folder / ".env").write_text(f"# a comment\n{name}='{value}'\nUNRELATED=1\n")
    else:
        monkeypatch.setenv(name, value)
    assert getattr(load_settings(), field) == expected


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://footy:{SECRET}@db.example.invalid:5432/footy?sslmode=require",
        f"postgres://footy:{SECRET}%40%2F@[::1]/footy",
        f"postgresql://footy:{SECRET}@one:5432,two:5432/footy",
        "postgresql:///footy?host=/run/postgresql",
    ],
)
def test_every_form_of_database_url_is_accepted(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("DATABASE_URL", url)
    found = load_settings().database_url
    assert found is not None
    assert found.get_secret_value() == url


def test_the_environment_wins_over_the_env_file(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    (folder / ".env").write_text("FOOTY_WORKERS=3\nFOOTY_DROP_POLLS=4\n")
    monkeypatch.setenv("FOOTY_WORKERS", "5")
    settings = load_settings()
    assert (settings.workers, settings.drop_polls) == (5, 4)


@pytest.mark.parametrize("how", ["profile", "function"])
def test_the_demo_shortens_the_waiting_times_and_changes_nothing_else(
    monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    normal = load_settings()
    if how == "profile":
        monkeypatch.setenv("FOOTY_PROFILE", "demo")
        demo = load_settings()
    else:
        demo = apply_demo_profile(normal)
    before, after = normal.model_dump(), demo.model_dump()
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {
        "profile",
        "poll_seconds",
        "staging_poll_seconds",
        "patience_seconds",
        "feed_patience_seconds",
        "retry_seconds",
        "pause_seconds",
        "completed_poll_seconds",
        "stale_seconds",
        "feed_timeout_seconds",
        "source_timeout_seconds",
        "reddit_fresh_seconds",
        "search_seconds",
        "search_gap_seconds",
        "search_silence_seconds",
        "upload_idle_seconds",
        "library_seconds",
        "browser_fresh_seconds",
        "fxtwitter_per_minute",
        "x_calls",
    }
    # So many that a matchday in minutes does not wait for them.
    budgets = {"fxtwitter_per_minute", "x_calls"}
    assert all(after[name] < before[name] for name in changed - {"profile"} - budgets)
    assert all(after[name] > before[name] for name in budgets)
    assert debounce_rules(demo) == debounce_rules(normal)


@pytest.mark.parametrize("name", sorted(DEMO))
@pytest.mark.parametrize("place", ["environment", ".env"])
def test_explicit_settings_override_the_demo(
    monkeypatch: pytest.MonkeyPatch, folder: Path, name: str, place: str
) -> None:
    default = Settings.model_fields[name].default
    given = environment_names()[name]
    monkeypatch.setenv("FOOTY_PROFILE", "demo")
    if place == ".env":
        (folder / ".env").write_text(f"{given}={default}\n")
    else:
        monkeypatch.setenv(given, str(default))
    settings = load_settings()
    assert getattr(settings, name) == default
    others = DEMO.keys() - {name}
    assert {other: getattr(settings, other) for other in others} == {other: DEMO[other] for other in others}


def test_the_demos_own_waiting_times_are_allowed_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in DEMO.items():
        monkeypatch.setenv(environment_names()[name], str(value))
    settings = load_settings()
    assert {name: getattr(settings, name) for name in DEMO} == DEMO


@pytest.mark.parametrize(
    "show", [repr, str, lambda settings: settings.model_dump_json(), lambda s: str(s.model_dump())]
)
def test_settings_that_are_printed_hide_their_secrets(monkeypatch: pytest.MonkeyPatch, show: object) -> None:
    monkeypatch.setenv("DATABASE_URL", f"postgresql://footy:{SECRET}@db/footy")
    monkeypatch.setenv("API_FOOTBALL_KEY", SECRET)
    monkeypatch.setenv("FOOTY_TEMPORAL_API_KEY", SECRET)
    settings = load_settings()
    assert callable(show)
    assert SECRET not in show(settings)
    assert settings.api_football_key is not None
    assert settings.api_football_key.get_secret_value() == SECRET


def test_settings_do_not_change() -> None:
    with pytest.raises(ValueError, match="frozen"):
        load_settings().workers = 3  # type: ignore[misc]


def test_every_setting_has_a_description() -> None:
    assert [name for name, field in Settings.model_fields.items() if not field.description] == []
    assert len(set(environment_names().values())) == len(Settings.model_fields)


def test_a_typing_error_in_the_follow_list_stops_the_start_with_a_suggestion(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTY_FOLLOW", "La Liga, Premier Leage")
    with pytest.raises(SettingsError) as caught:
        load_settings()
    first, second = str(caught.value).splitlines()
    assert first == "FOOTY_FOLLOW: unknown competition 'Premier Leage': did you mean Premier League?"
    assert "footy follow list --known" in second


# --- secrets in files


@pytest.mark.parametrize(
    ("variable", "field"),
    [
        ("DATABASE_URL_FILE", "database_url"),
        ("FOOTY_DATABASE_URL_FILE", "database_url"),
        ("API_FOOTBALL_KEY_FILE", "api_football_key"),
        ("FOOTY_S3_SECRET_KEY_FILE", "s3_secret_key"),
        ("FOOTY_BROWSER_SECRET_FILE", "browser_secret"),
    ],
)
@pytest.mark.parametrize("place", ["environment", ".env"])
def test_a_secret_is_read_from_a_file(
    monkeypatch: pytest.MonkeyPatch, folder: Path, variable: str, field: str, place: str
) -> None:
    value = f"postgresql://footy:{SECRET}@db/footy" if field == "database_url" else SECRET
    (folder / "secret").write_text(f"{value}\n")
    if place == ".env":
        (folder / ".env").write_text(f"{variable}={folder / 'secret'}\n")
    else:
        monkeypatch.setenv(variable, str(folder / "secret"))
    settings = load_settings()
    assert getattr(settings, field).get_secret_value() == value
    assert SECRET not in repr(settings)


def test_a_direct_secret_overrides_its_file(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    (folder / "secret").write_text("from the file")
    monkeypatch.setenv("FOOTY_S3_SECRET_KEY_FILE", str(folder / "secret"))
    monkeypatch.setenv("FOOTY_S3_SECRET_KEY", "direct")
    secret = load_settings().s3_secret_key
    assert secret is not None
    assert secret.get_secret_value() == "direct"


@pytest.mark.parametrize(
    ("variable", "said"),
    [
        ("FOOTY_S3_SECRET_KEY_FILE", "FOOTY_S3_SECRET_KEY_FILE: .*nowhere cannot be read: No such file"),
        ("FOOTY_POLL_SECONDS_FILE", "FOOTY_POLL_SECONDS_FILE is not a setting"),
    ],
)
def test_only_secrets_have_files_and_a_missing_one_stops_the_start(
    monkeypatch: pytest.MonkeyPatch, folder: Path, variable: str, said: str
) -> None:
    monkeypatch.setenv(variable, str(folder / "nowhere"))
    with pytest.raises(SettingsError, match=said):
        load_settings()
