"""What an editor hands in: which addresses may be fetched, and how they are called."""

from __future__ import annotations

import pytest

from found_footy.errors import BadRequest
from found_footy.library.submissions import title_from_filename, validate_facts, validate_title, validate_url
from found_footy.runtime.addresses import AddressPolicy

RULE = AddressPolicy(["127.0.0.1:9000"]).check


@pytest.mark.parametrize(
    ("url", "host", "port", "name"),
    [
        ("https://films.example/a/b.mp4?key=1", "films.example", 443, "films.example/…/b.mp4"),
        ("  http://films.example  ", "films.example", 80, "films.example"),
        ("http://Films.Example:8080/x/", "films.example", 8080, "films.example/…/x"),
        ("https://żółw.example/%C5%BC", "żółw.example", 443, "żółw.example/…/ż"),
        ("http://8.8.8.8/a", "8.8.8.8", 80, "8.8.8.8/…/a"),
        ("http://127.0.0.1:9000/a", "127.0.0.1", 9000, "127.0.0.1/…/a"),
    ],
)
def test_urls_are_parsed(url: str, host: str, port: int, name: str) -> None:
    found = validate_url(url, RULE)
    assert (found.url, found.host, found.port, found.title) == (url.strip(), host, port, name)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("", "no URL given"),
        ("ftp://films.example/a.mp4", "http:// or https://"),
        ("file:///etc/passwd", "http:// or https://"),
        ("javascript:alert(1)", "http:// or https://"),
        ("https://", "http:// or https://"),
        ("films.example/a.mp4", "http:// or https://"),
        ("http://127.0.0.1/a.mp4", "address is not public"),
        ("http://127.0.0.1:9001/a.mp4", "port 9001 is not allowed"),
        ("http://[::1]/a.mp4", "address is not public"),
        ("http://[fe80::1%25eth0]/", "invalid host"),
        ("http://[::ffff:10.0.0.1]/a.mp4", "address is not public"),
        ("http://169.254.169.254/latest", "address is not public"),
        ("http://films.example:5432/", "port 5432 is not allowed"),
        ("http://films.example:99999/", "cannot parse the URL"),
        ("http://films.example:port/", "cannot parse the URL"),
        ("http://[bad/", "cannot parse the URL"),
        ("http://fi$lms.example/", "invalid host"),
        ("https://ada:secret@films.example/", "user name or password"),
        ("https://@films.example/", "user name or password"),
        ("https://films.example/a b", "invalid characters"),
        ("https://films.example/\u202ea", "invalid characters"),
        ("https://fi\x00lms.example/", "invalid characters"),
        ("https://films.example/" + "a" * 2000, "longer than 2000"),
    ],
)
def test_forbidden_urls_are_rejected_with_the_reason(url: str, said: str) -> None:
    with pytest.raises(BadRequest, match=said) as refused:
        validate_url(url, RULE)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("final.mp4", "final"),
        ("C:\\films\\Łódź.tar.gz", "Łódź.tar"),
        ("/tmp/a/b.mkv", "b"),
        ("README", "README"),
        (".hidden", ".hidden"),
        ("a\n\u202eb.mp4", "a b"),
        ("", ""),
    ],
)
def test_titles_from_file_names(name: str, title: str) -> None:
    assert title_from_filename(name) == title


def test_titles_and_facts_are_cleaned_and_bounded() -> None:
    assert validate_title(" a\x00b\u202e ", "other") == "a b"
    assert validate_title(" \n", "other") == "other"
    assert len(validate_title("x" * 1000, "")) == 200
    assert validate_facts({"player": " Ana\n", "team": "", "minute": None}) == {"player": "Ana"}
    with pytest.raises(BadRequest, match="unknown fact 'fixture_id'"):
        validate_facts({"fixture_id": "1"})
