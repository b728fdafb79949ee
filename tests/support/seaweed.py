"""A real S3 server for tests: SeaweedFS in one process on loopback, which can be stopped and come back."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, Self

import obstore
from obstore.exceptions import BaseError
from obstore.store import S3Store

from found_footy.runtime import launch
from found_footy.runtime.engine import HOST, free_port, is_free

_SERVERS = ("s3", "master", "volume", "filer")
_START_SECONDS = 120.0
_STOP_SECONDS = 30.0
_DIES_WITH_PARENT = (sys.executable, "-I", "-S", launch.__file__, str(int(signal.SIGKILL)))


class SeaweedServer:
    """Keeps its data, credentials and ports over any number of stops, kills and starts."""

    bucket = "footy"
    region = "us-east-1"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self.access_key = secrets.token_hex(10)
        self.secret_key = secrets.token_hex(20)
        self._ports = _choose_ports()

    def to_json(self) -> dict[str, Any]:
        return {"folder": str(self._folder), "keys": [self.access_key, self.secret_key], "ports": self._ports}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """The same server, as seen by another process."""
        server = cls(Path(value["folder"]))
        server.access_key, server.secret_key = value["keys"]
        server._ports = value["ports"]
        return server

    @property
    def pid(self) -> int | None:
        """Pid, None if it is not running."""
        return self._process.pid if self._process is not None and self._process.poll() is None else None

    @property
    def endpoint(self) -> str:
        return f"http://{HOST}:{self._ports['s3.port']}"

    @property
    def log(self) -> Path:
        return self._folder / "weed.log"

    def start(self) -> None:
        """Returns once an object can be stored."""
        if self._process is not None:
            raise RuntimeError("the server runs already")
        data = self._folder / "data"
        data.mkdir(parents=True, exist_ok=True)
        config = self._folder / "s3.json"
        config.write_text(json.dumps(self._identities()))
        weed = Path(sysconfig.get_path("scripts"), "weed")
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [*_DIES_WITH_PARENT, str(os.getpid()), "-1", "-1", "--", weed, "mini", *self._flags(data, config)],
                cwd=self._folder,
                env={**os.environ, "GOMEMLIMIT": "400MiB"},  # below 200 it collects garbage all the time
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        try:
            self._wait_until_ready()
        except BaseException:
            self.kill()
            raise

    def stop(self) -> None:
        """As an administrator would."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """As a power cut would."""
        self._end(signal.SIGKILL)

    def raw(self, seconds: float = 60) -> S3Store:
        """obstore itself, for a look past the adapter."""
        return S3Store(
            self.bucket,
            endpoint=self.endpoint,
            region=self.region,
            access_key_id=self.access_key,
            secret_access_key=self.secret_key,
            client_options={"allow_http": True, "timeout": timedelta(seconds=seconds)},
            retry_config={"max_retries": 0},
        )

    def _end(self, by: signal.Signals) -> None:
        if self._process is None:
            return
        self._process.send_signal(by)
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def _wait_until_ready(self) -> None:
        assert self._process is not None
        store, deadline = self.raw(seconds=5), time.monotonic() + _START_SECONDS
        while True:
            if self._process.poll() is not None:
                raise RuntimeError(f"weed ended with {self._process.returncode}: {self._last_words()}")
            try:
                obstore.put(store, ".ready/object", b"ready")
                obstore.delete(store, ".ready/object")
                return
            except (BaseError, OSError) as error:
                if time.monotonic() > deadline:
                    raise RuntimeError(f"weed did not get ready: {self._last_words()}") from error
            time.sleep(0.05)

    def _last_words(self) -> str:
        return self.log.read_text(errors="replace")[-2000:]

    def _identities(self) -> dict[str, object]:
        key = {"accessKey": self.access_key, "secretKey": self.secret_key}
        actions = ["Admin", "Read", "Write", "List", "Tagging"]
        return {"identities": [{"name": "app", "credentials": [key], "actions": actions}]}

    def _flags(self, data: Path, config: Path) -> list[str]:
        return [
            f"-dir={data}",
            f"-bucket={self.bucket}",
            f"-ip={HOST}",
            f"-ip.bind={HOST}",
            "-master.telemetry=false",
            "-webdav=false",
            "-admin.ui=false",
            "-idleTimeout=3",
            "-master.resumeState=false",
            f"-s3.config={config}",
            "-s3.autoCreateBucket=false",
            "-s3.port.iceberg=0",
            "-s3.port.lance=0",
            f"-filer.localSocket={data / 'filer.sock'}",
            f"-s3.localSocket={data / 's3.sock'}",
            *(f"-{name}={port}" for name, port in self._ports.items()),
        ]


def _choose_ports() -> dict[str, int]:
    """One for each part and one for its gRPC; the admin part wants the latter 10,000 above the former."""
    names = [f"{server}.port{kind}" for server in _SERVERS for kind in ("", ".grpc")]
    chosen: dict[str, int] = {}
    while len(chosen) < len(names):
        port = free_port()
        if port not in chosen.values():
            chosen[names[len(chosen)]] = port
    while True:
        admin = free_port()
        if admin not in chosen.values() and is_free(admin + 10_000):
            return {**chosen, "admin.port": admin, "admin.port.grpc": admin + 10_000}
