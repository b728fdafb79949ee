"""Origin, Host header and redirect paths of requests."""

from __future__ import annotations

import pytest

from found_footy.web.requests import host_name, is_known_host, is_same_origin, safe_redirect_path

PUBLIC = "https://goals.example"


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, True),  # no browser: those always send one of the two
        ({"sec-fetch-site": "same-origin"}, True),
        ({"sec-fetch-site": "none"}, True),  # typed by hand
        ({"sec-fetch-site": "cross-site"}, False),
        ({"sec-fetch-site": "same-site"}, False),
        ({"sec-fetch-site": "cross-site", "origin": "http://127.0.0.1:8000"}, False),
        ({"origin": "http://127.0.0.1:8000"}, True),
        ({"origin": "http://127.0.0.1:8001"}, False),
        ({"origin": "HTTPS://Goals.Example"}, True),  # behind a proxy that renames us
        ({"origin": "https://goals.example.evil.example"}, False),
        ({"origin": "null"}, False),
        ({"origin": ""}, False),
        ({"origin": "file://127.0.0.1:8000"}, False),
    ],
)
def test_forms_are_accepted_from_own_pages_only(headers: dict[str, str], expected: bool) -> None:
    assert is_same_origin({"host": "127.0.0.1:8000", **headers}, PUBLIC) is expected


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("localhost", "localhost"),
        ("LOCALHOST:8000", "localhost"),
        ("[::1]:8000", "::1"),
        ("127.0.0.1:8000", "127.0.0.1"),
        ("a b", None),
        ("", None),
        ("host:port", None),
        ("::1", None),
        ("evil.example/..", None),
        ("user@localhost", None),
    ],
)
def test_the_host_name_is_parsed_from_the_host_header(header: str, name: str | None) -> None:
    assert host_name(header) == name


@pytest.mark.parametrize(
    ("header", "bound", "known"),
    [
        ("127.0.0.1:8000", "127.0.0.1", True),
        ("localhost:8000", "127.0.0.1", True),
        ("[::1]:8000", "::1", True),
        ("goals.example", "127.0.0.1", True),  # through a proxy on this machine
        ("evil.example", "127.0.0.1", False),  # a name of theirs that leads to us
        ("127.0.0.1.evil.example", "127.0.0.1", False),
        (None, "127.0.0.1", False),
        ("evil example", "0.0.0.0", False),
        ("desk.lan:8000", "0.0.0.0", False),
        ("web:8000", "0.0.0.0", True),  # FOOTY_ALLOWED_HOSTS
        ("192.0.2.7:8000", "0.0.0.0", True),  # the address at which the request arrived
        ("192.0.2.8:8000", "0.0.0.0", False),
        ("goals.example", "0.0.0.0", True),
        ("desk.lan:8000", "desk.lan", True),
    ],
)
def test_any_other_host_than_the_configured_ones_is_unknown(header: str | None, bound: str, known: bool) -> None:
    assert is_known_host(header, bound, PUBLIC, ("web",), "192.0.2.7") is known


@pytest.mark.parametrize(
    ("path", "leads_to"),
    [
        ("/", "/"),
        ("/g/1_2_3_Goal_1?t=3", "/g/1_2_3_Goal_1?t=3"),
        ("//evil.example", "/"),
        ("/\\evil.example", "/"),
        ("https://evil.example", "/"),
        ("/a\r\nSet-Cookie: x=y", "/"),
        ("javascript:alert(1)", "/"),
        ("", "/"),
    ],
)
def test_redirects_stay_on_this_site(path: str, leads_to: str) -> None:
    assert safe_redirect_path(path) == leads_to
