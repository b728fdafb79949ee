"""The port of the pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from found_footy.config import Settings
from found_footy.runtime.system import with_web_port

EPHEMERAL_PORTS = Path("/proc/sys/net/ipv4/ip_local_port_range")


@pytest.mark.skipif(not EPHEMERAL_PORTS.exists(), reason="only Linux shows the range of outgoing connections")
def test_a_free_web_port_is_not_one_of_outgoing_connections(tmp_path: Path) -> None:
    """The web process listens seconds after the choice; a connection of another program would keep it from starting."""
    first = int(EPHEMERAL_PORTS.read_text().split()[0])
    ports = {with_web_port(Settings(data_dir=tmp_path, web_port=0)).web_port for _ in range(20)}
    assert max(ports) < first
