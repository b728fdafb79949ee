"""What an editor hands in: which addresses may be fetched, and how they are called."""

from __future__ import annotations

import pytest

from found_footy.adapters.guarded.addresses import AddressRule
from found_footy.domain.clips.submitting import checked_facts, checked_title, checked_url, title_of_file
from found_footy.domain.errors import BadRequest

RULE = AddressRule(["127.0.0.1:9000"]).refusal


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
def test_an_address_is_taken_apart(url: str, host: str, port: int, name: str) -> None:
    found = checked_url(url, RULE)
    assert (found.url, found.host, found.port, found.name) == (url.strip(), host, port, name)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("", "no address"),
        ("ftp://films.example/a.mp4", "http:// or https://"),
        ("file:///etc/passwd", "http:// or https://"),
        ("javascript:alert(1)", "http:// or https://"),
        ("https://", "http:// or https://"),
        ("films.example/a.mp4", "http:// or https://"),
        ("http://127.0.0.1/a.mp4", "not at a public address"),
        ("http://127.0.0.1:9001/a.mp4", "port 9001 is closed"),
        ("http://[::1]/a.mp4", "not at a public address"),
        ("http://[fe80::1%25eth0]/", "names no host"),
        ("http://[::ffff:10.0.0.1]/a.mp4", "not at a public address"),
        ("http://169.254.169.254/latest", "not at a public address"),
        ("http://films.example:5432/", "port 5432 is closed"),
        ("http://films.example:99999/", "cannot be taken apart"),
        ("http://films.example:port/", "cannot be taken apart"),
        ("http://[bad/", "cannot be taken apart"),
        ("http://fi$lms.example/", "names no host"),
        ("https://ada:secret@films.example/", "user's name"),
        ("https://@films.example/", "user's name"),
        ("https://films.example/a b", "characters that no address has"),
        ("https://films.example/\u202ea", "characters that no address has"),
        ("https://fi\x00lms.example/", "characters that no address has"),
        ("https://films.example/" + "a" * 2000, "longer than 2000"),
    ],
)
def test_an_address_that_may_not_be_asked_is_refused_with_the_reason(url: str, said: str) -> None:
    with pytest.raises(BadRequest, match=said) as refused:
        checked_url(url, RULE)
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
def test_a_file_is_called_by_its_name(name: str, title: str) -> None:
    assert title_of_file(name) == title


def test_titles_and_facts_are_cleaned_and_bounded() -> None:
    assert checked_title(" a\x00b\u202e ", "other") == "a b"
    assert checked_title(" \n", "other") == "other"
    assert len(checked_title("x" * 1000, "")) == 200
    assert checked_facts({"player": " Ana\n", "team": "", "minute": None}) == {"player": "Ana"}
    with pytest.raises(BadRequest, match="'fixture_id' is none of player"):
        checked_facts({"fixture_id": "1"})
