"""Builds the image and runs its containers with podman, as root, without an image registry.

The base comes from Debian's packages (mmdebstrap) unless BASE_IMAGE names one. The pip of this environment downloads
the wheels of the lock file with its own configuration; the build installs them without network.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.docs import ROOT

DEPLOY = ROOT / "deploy"
COMPOSE = DEPLOY / "compose.yaml"
IMAGE = "localhost/found-footy:test"
BASE = "localhost/found-footy-base:bookworm"
PROGRAMS = ("podman", "buildah", "mmdebstrap", "runc")
LIMITS = ("--ulimit", "nofile=1024:1024", "--ulimit", "nproc=2048:2048")
"""Without both, runc may not set the limits that podman asks for by default."""


def run(*command: str | Path, check: bool = True, **more: Any) -> str:
    done = subprocess.run([*map(str, command)], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)
    if check and done.returncode != 0:
        raise AssertionError(f"{command[0]} {command[1]} ended with {done.returncode}:\n{done.stdout[-4000:]}")
    return done.stdout.strip()


def podman(*arguments: str, check: bool = True) -> str:
    # crun fails on hybrid cgroups, and there may be no systemd.
    return run("podman", "--runtime", "runc", "--cgroup-manager=cgroupfs", "--log-level=fatal", *arguments, check=check)


@cache
def commit() -> str:
    """Of the image, also if somebody commits during the tests."""
    return run("git", "-C", ROOT, "rev-parse", "HEAD")


def build_image(cache: Path) -> str:
    """Build the image and return its name. `cache` keeps wheels and layers for the next time."""
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if missing or os.geteuid() != 0:
        pytest.fail(f"needs root and the Debian packages {' '.join(PROGRAMS)}; missing: {' '.join(missing) or 'root'}")
    base = os.environ.get("BASE_IMAGE") or _debian_base()
    wheels = _download_wheels(cache)
    config = cache / "pip.conf"
    config.write_text("[global]\nno-index = true\nfind_links = /wheels\n")
    volumes = ("--volume", f"{wheels}:/wheels:ro", "--volume", f"{config}:/etc/pip.conf:ro")
    labels = ("--build-arg", f"BASE={base}", "--build-arg", f"COMMIT={commit()}")
    build = ("buildah", "bud", "--isolation", "chroot", "--layers", "--format", "docker", "--target", "runtime")
    run(*build, *LIMITS, *volumes, *labels, "-f", DEPLOY / "Dockerfile", "-t", IMAGE, ROOT)
    return IMAGE


def _debian_base() -> str:
    if subprocess.run(["podman", "image", "exists", BASE], check=False).returncode != 0:
        with tempfile.TemporaryDirectory() as folder:
            run("mmdebstrap", "--variant=minbase", "bookworm", Path(folder, "base.tar"))
            podman("import", str(Path(folder, "base.tar")), BASE)
    return BASE


def _download_wheels(cache: Path) -> Path:
    wheels = cache / "wheels"
    wheels.mkdir(parents=True, exist_ok=True)
    # The image may have another patch release of Python than this environment: no condition on it.
    runtime = re.sub(r" ; python_full_version < '3\.11\.\d+'", "", (ROOT / "requirements.lock").read_text())
    backend = (ROOT / "requirements-build.lock").read_text()
    for name, text in (("runtime", runtime), ("backend", backend)):
        file = cache / f"{name}.txt"
        if not file.exists() or file.read_text() != text:
            file.with_suffix(".part").write_text(text)
            pip = (sys.executable, "-m", "pip", "download", "--quiet", "--require-hashes", "--dest", wheels)
            run(*pip, "-r", file.with_suffix(".part"))
            file.with_suffix(".part").rename(file)
    return wheels


# --- Services as compose.yaml describes them.


@dataclass(frozen=True)
class ServiceSpec:
    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]


def product_services() -> dict[str, ServiceSpec]:
    """Services that run the image built here."""
    services = yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))["services"]
    return {
        name: ServiceSpec(name, tuple(service["command"]), service["environment"])
        for name, service in services.items()
        if service["image"].startswith("found-footy:")
    }


@dataclass
class Machine:
    """A set of containers that share no file with those of any other machine."""

    name: str
    environment: Mapping[str, str]
    containers: list[str] = field(default_factory=list)

    def start(self, service: ServiceSpec, **more: str) -> str:
        missing = set(service.environment) - set(self.environment)
        assert not missing, f"{service.name} of compose.yaml also sets {missing}"
        container = f"{self.name}-{service.name}"
        self.containers.append(container)
        podman("run", "--detach", "--name", container, *self._options(more), IMAGE, *service.command)
        return container

    def run(self, *command: str) -> str:
        return podman("run", "--rm", "--name", f"{self.name}-run", *self._options({}), IMAGE, *command)

    def _options(self, more: Mapping[str, str]) -> Sequence[str]:
        variables = [f"--env={name}={value}" for name, value in {**self.environment, **more}.items()]
        hardened = ("--cap-drop=all", "--security-opt=no-new-privileges", "--no-healthcheck")
        return ("--network=host", "--hostname", self.name, *LIMITS, *hardened, *variables)

    def kill(self) -> None:
        """As a power cut would."""
        podman("kill", "--signal=KILL", *self.containers)

    def stop(self) -> dict[str, int]:
        """Stop as `docker compose stop` does, and return the exit codes."""
        podman("stop", "--time=45", *self.containers)
        return {each["Name"]: each["State"]["ExitCode"] for each in self.inspect()}

    def inspect(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(podman("inspect", *self.containers))
        return found

    def logs(self) -> str:
        return "\n".join(f"--- {name}\n{podman('logs', name, check=False)}" for name in self.containers)

    def remove(self) -> None:
        for name in (*self.containers, f"{self.name}-run"):
            podman("rm", "--force", "--ignore", "--volumes", name, check=False)
