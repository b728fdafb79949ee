"""Which addresses a link may lead to."""

from __future__ import annotations

import pytest

from found_footy.runtime.addresses import AddressPolicy, is_own, is_public


@pytest.mark.parametrize(
    "address",
    ["1.1.1.1", "93.184.216.34", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101", "2002:101:101::1"],
)
def test_the_internet_is_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "127.255.0.9",
        "0.0.0.0",
        "0.1.2.3",
        "10.0.0.1",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "100.100.100.200",  # metadata of Alibaba
        "168.63.129.16",  # of Azure
        "fd00:ec2::254",  # of AWS
        "192.0.0.8",
        "192.0.2.1",
        "192.88.99.1",
        "198.18.0.1",
        "203.0.113.1",
        "224.0.0.1",
        "239.255.255.250",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::7f00:1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::ffff:169.254.169.254",
        "64:ff9b::7f00:1",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::1",
        "2002:7f00:1::",
        "2002:a00:1::1",
        "2001::1",
        "2001:db8::1",
        "3fff::1",
        "100::1",
        "fc00::1",
        "fd12:3456::1",
        "fe80::1",
        "fe80::1%eth0",
        "fec0::1",
        "ff02::1",
        "localhost",
        "",
        "127.1",
        "2130706433",
    ],
)
def test_everything_else_is_not(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    ("host", "port", "addresses", "allowed"),
    [
        ("example.org", 443, ["1.1.1.1"], True),
        ("example.org", 80, ["1.1.1.1", "2606:4700::1111"], True),
        ("example.org", 8443, ["1.1.1.1"], True),
        ("example.org", 443, ["1.1.1.1", "10.0.0.1"], False),
        ("example.org", 22, ["1.1.1.1"], False),
        ("example.org", 6379, ["1.1.1.1"], False),
        ("127.0.0.1", 8123, ["127.0.0.1"], True),
        ("LOCALHOST.", 8123, ["127.0.0.1"], True),
        ("::1", 8123, ["::1"], True),
        ("127.0.0.1", 8124, ["127.0.0.1"], False),
        ("127.0.0.1", 80, ["127.0.0.1"], False),
        # Another name for the same place was not named.
        ("evil.example", 8123, ["127.0.0.1"], False),
        ("127.1", 8123, ["127.0.0.1"], False),
    ],
)
def test_private_hosts_are_let_through_by_name_and_port_only(
    host: str, port: int, addresses: list[str], allowed: bool
) -> None:
    rule = AddressPolicy(["127.0.0.1:8123", "localhost:8123", "[::1]:8123"])
    assert (rule.check(host, port, addresses) is None) is allowed


@pytest.mark.parametrize("text", ["localhost", "8080", ":8080", "host:http"])
def test_a_private_host_without_a_port_is_refused_at_the_start(text: str) -> None:
    with pytest.raises(ValueError, match="host:port"):
        AddressPolicy([text])


@pytest.mark.parametrize(("address", "own"), [("127.0.0.2", True), ("::1", True), ("192.0.2.1", False), ("x", False)])
def test_an_address_of_this_machine_is_recognised(address: str, own: bool) -> None:
    assert is_own(address) is own


def test_the_public_address_of_this_machine_is_private(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("found_footy.runtime.addresses.is_own", lambda address: address == "1.1.1.1")
    policy = AddressPolicy(["1.1.1.1:8080"])
    assert policy.check("own.example", 443, ["9.9.9.9", "1.1.1.1"]) == "address belongs to this machine"
    assert policy.check("other.example", 443, ["9.9.9.9"]) is None
    assert policy.check("1.1.1.1", 8080, ["1.1.1.1"]) is None, "FOOTY_PRIVATE_HOSTS allows it"
