"""The lock files, and what is said about the packages in them."""

from __future__ import annotations

import importlib.util
import json
import sys
import tomllib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import ModuleType
from typing import Any

import anyio.to_thread
import pytest
from packaging.requirements import Requirement
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from found_footy.runtime.http_server import HttpServer
from tests.support.docs import ROOT


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("dependencies", ROOT / ".ci" / "dependencies.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["dependencies"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


dependencies = load()
HASH = "0a" * 32
LOCK = f"""\
good==1.2 \\
    --hash=sha256:{HASH} \\
    --hash=sha256:{HASH}
Bad_One==3.0 ; sys_platform != 'win32' \\
    --hash=sha256:{HASH}
"""
ENTRY = {"id": "PYSEC-1", "aliases": ["GHSA-1", "CVE-2026-1"], "fixed_in": ["3.1"], "link": "https://example.invalid/1"}


def test_a_lock_is_read_with_its_hashes() -> None:
    good, bad = dependencies.read_lock(LOCK)
    assert (good.purl, len(good.hashes)) == ("pkg:pypi/good@1.2", 2)
    assert bad.purl == "pkg:pypi/bad-one@3.0"
    with pytest.raises(ValueError, match="no hash"):
        dependencies.read_lock("loose==1\n")


def test_the_build_backend_is_hash_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    pinned = {each.name: each for each in dependencies.locked([ROOT / "requirements-build.lock"])}
    for text in project["build-system"]["requires"]:
        requirement = Requirement(text)
        assert requirement.specifier.contains(pinned[requirement.name].version)
    setup = (ROOT / "Makefile").read_text()
    assert "--no-build-isolation" in setup
    assert "--require-hashes -r requirements-build.lock" in setup


@asynccontextmanager
async def database(answers: dict[str, Any]) -> AsyncIterator[str]:
    """An index that reports vulnerabilities."""

    async def answer(request: Request) -> Response:
        found = answers.get(request.path_params["name"])
        return Response(status_code=404) if found is None else JSONResponse({"vulnerabilities": found})

    routes = [Route("/index/{name}/{version}/json", answer)]
    async with HttpServer(Starlette(routes=routes), grace_seconds=1) as server:
        yield f"{server.url}/index"


async def audit(url: str, *, ignored: tuple[str, ...] = (), strict: bool = False) -> int:
    packages = dependencies.read_lock(LOCK)
    return await anyio.to_thread.run_sync(lambda: dependencies.audit(packages, url, ignored, strict=strict))


async def test_the_audit_fails_for_a_vulnerable_package_unless_it_is_accepted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async with database({"good": [{**ENTRY, "withdrawn": "2026-01-01"}], "bad-one": [ENTRY]}) as url:
        assert await audit(url) == 1
        assert "VULNERABLE: bad-one==3.0: CVE-2026-1, fixed in 3.1" in capsys.readouterr().out
        assert await audit(url, ignored=("CVE-2026-1",)) == 0


@pytest.mark.parametrize(("strict", "code"), [(False, 0), (True, 3)])
async def test_an_audit_without_a_database_warns_and_fails_only_on_request(
    capsys: pytest.CaptureFixture[str], strict: bool, code: int
) -> None:
    assert await audit("http://127.0.0.1:9", strict=strict) == code
    assert "NOT AUDITED: 2 of 2 packages" in capsys.readouterr().out
    async with database({"good": []}) as url:
        assert await audit(url, strict=strict) == code
        assert "NOT AUDITED: 1 of 2 packages" in capsys.readouterr().out


def test_the_bill_of_materials_lists_every_runtime_package_and_is_reproducible() -> None:
    packages = dependencies.locked([ROOT / "requirements.lock"])
    document = dependencies.bill_of_materials(packages, "1.0")
    assert document == json.loads(json.dumps(dependencies.bill_of_materials(packages, "1.0")))
    names = {each["name"] for each in document["components"]}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {Requirement(each).name for each in project["dependencies"]} <= names
    assert document["bomFormat"] == "CycloneDX"
    assert all(each["hashes"] and each["purl"] for each in document["components"])


def test_yt_dlp_has_a_renewal_path() -> None:
    rule = (ROOT / "Makefile").read_text().partition("\nupdate-ytdlp:")[2].partition("\n\n")[0]
    assert rule.count("--upgrade-package yt-dlp") == 2
    assert "--upgrade " not in rule, "everything else keeps its version"
