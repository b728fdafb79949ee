"""What the lock files install: known vulnerabilities (`audit`) and a bill of materials (`sbom`).

Standard library only, so that it also runs before anything is installed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterable, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LOCKS = ("requirements.lock", "requirements-dev.lock", "requirements-build.lock")
SECONDS = 20.0
AT_ONCE = 8
FOUND, NOT_AUDITED = 1, 3


@dataclass(frozen=True)
class Package:
    name: str
    version: str
    hashes: tuple[str, ...]
    """SHA-256 of each distribution."""

    @property
    def purl(self) -> str:
        return f"pkg:pypi/{self.name}@{self.version}"


@dataclass(frozen=True)
class Vulnerability:
    package: Package
    id: str
    fixed_in: tuple[str, ...]
    link: str


def read_lock(text: str) -> list[Package]:
    """Raises ValueError for a package without a hash."""
    packages = []
    for name, version, rest in re.findall(r"^([\w.-]+)==([^\s;\\]+)((?:[^\n]*\\\n)*[^\n]*)", text, re.MULTILINE):
        hashes = tuple(re.findall(r"--hash=sha256:([0-9a-f]{64})", rest))
        if not hashes:
            raise ValueError(f"{name}=={version} has no hash")
        packages.append(Package(re.sub(r"[-_.]+", "-", name).lower(), version, hashes))
    return packages


def locked(paths: Iterable[Path]) -> list[Package]:
    found = {each.purl: each for path in paths for each in read_lock(path.read_text(encoding="utf-8"))}
    return [found[purl] for purl in sorted(found)]


# --- Audit.


def vulnerabilities_of(package: Package, database: str) -> list[Vulnerability]:
    """Raises OSError or ValueError if the database does not answer."""
    url = f"{database.rstrip('/')}/{package.name}/{package.version}/json"
    request = urllib.request.Request(url, headers={"User-Agent": "found-footy dependency audit"})
    try:
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            document = json.load(answer)
    except urllib.error.HTTPError as error:
        error.close()
        raise ValueError(f"{url} answered HTTP {error.code}") from None
    return [_vulnerability(package, each) for each in document["vulnerabilities"] if not each.get("withdrawn")]


def _vulnerability(package: Package, entry: dict[str, Any]) -> Vulnerability:
    name = next((each for each in entry.get("aliases", ()) if each.startswith("CVE-")), entry["id"])
    return Vulnerability(package, name, tuple(entry.get("fixed_in", ())), str(entry.get("link", "")))


def audit(packages: Sequence[Package], database: str, ignored: Iterable[str], *, strict: bool) -> int:
    """Print findings and return the exit code. Without a database this is no failure unless `strict`."""
    found: list[Vulnerability] = []
    unknown: list[str] = []
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for package, future in [(each, pool.submit(vulnerabilities_of, each, database)) for each in packages]:
            try:
                found += future.result()
            except (OSError, ValueError, KeyError, TypeError, CancelledError) as error:
                unknown.append(f"{package.name}=={package.version}: {error}")
                if isinstance(error, OSError):  # do not wait for each of them in turn
                    pool.shutdown(wait=False, cancel_futures=True)
    skipped = set(ignored)
    found = [each for each in found if each.id not in skipped]
    for each in found:
        fixed = f"fixed in {', '.join(each.fixed_in)}" if each.fixed_in else "no fix released"
        print(f"VULNERABLE: {each.package.name}=={each.package.version}: {each.id}, {fixed} {each.link}".rstrip())
    if unknown:
        print("!" * 78)
        print(f"NOT AUDITED: {len(unknown)} of {len(packages)} packages, the vulnerability database does not answer.")
        print(f"The first one: {unknown[0]}")
        print("!" * 78)
    print(f"{len(packages) - len(unknown)} of {len(packages)} locked packages audited, {len(found)} vulnerabilities")
    return FOUND if found else NOT_AUDITED if unknown and strict else 0


# --- Bill of materials, as CycloneDX 1.6. The same lock gives the same document.


def bill_of_materials(packages: Sequence[Package], version: str) -> dict[str, Any]:
    content = "".join(f"{each.purl} {' '.join(each.hashes)}\n" for each in packages)
    serial = uuid.UUID(hashlib.sha256(content.encode()).hexdigest()[:32], version=4)
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{serial}",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": "found-footy", "version": version}},
        "components": [_component(each) for each in packages],
    }


def _component(package: Package) -> dict[str, Any]:
    component: dict[str, Any] = {
        "type": "library",
        "bom-ref": package.purl,
        "name": package.name,
        "version": package.version,
        "purl": package.purl,
        "hashes": [{"alg": "SHA-256", "content": each} for each in package.hashes],
    }
    if licence := _licence(package):
        component["licenses"] = [{"license": {"name": licence}}]
    return component


def _licence(package: Package) -> str:
    """As the installed package declares it; empty if it is not installed."""
    try:
        facts = metadata.metadata(package.name)
    except metadata.PackageNotFoundError:
        return ""
    declared = facts.get("License-Expression") or facts.get("License") or ""
    classifiers = [each.rpartition(" :: ")[2] for each in facts.get_all("Classifier") or () if "License ::" in each]
    return declared if declared and "\n" not in declared else ", ".join(classifiers)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    auditing = commands.add_parser("audit", help="report known vulnerabilities of all locked packages")
    auditing.add_argument("--database", help="base URL of an index that reports them; default: that of pip")
    auditing.add_argument("--ignore", action="append", default=[], metavar="ID", help="a vulnerability to accept")
    auditing.add_argument("--strict", action="store_true", help="fail if the database does not answer")
    listing = commands.add_parser("sbom", help="write a CycloneDX bill of materials of the runtime packages")
    listing.add_argument("--output", type=Path, help="file to write; default: standard output")
    given = parser.parse_args(arguments)
    if given.command == "audit":
        # The index reports vulnerabilities from OSV, so an audit needs no other server.
        database = given.database or vars(import_module("pip._internal.models.index"))["PyPI"].pypi_url
        return audit(locked(ROOT / name for name in LOCKS), database, given.ignore, strict=given.strict)
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    version = re.search(r'^version = "([^"]+)"', project, re.MULTILINE)
    document = bill_of_materials(locked([ROOT / LOCKS[0]]), version[1] if version else "")
    text = json.dumps(document, indent=1) + "\n"
    if given.output is None:
        print(text, end="")
    else:
        given.output.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
