"""The files in `deploy/` are well-formed, and everything they name exists."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest

from found_footy.config import Settings, environment_names
from found_footy.library.stages import Lane
from found_footy.runtime.embedded_valkey import EVICTION_POLICY
from found_footy.runtime.queues import ALL_KINDS, WorkKind, parse_kinds, queue_name
from found_footy.web.app import create_routes
from tests.deploy import deployed
from tests.deploy.deployed import DEPLOY, KUBERNETES
from tests.support.docs import DOCS, ROOT, anchors
from tests.test_docs import commands

SETTINGS = set(environment_names().values())
WEB_PORT, BROWSER_PORT = (Settings.model_fields[name].default for name in ("web_port", "browser_port"))
RUNBOOK = DOCS / "howto" / "runbook.md"


# --- everything named exists


def test_every_command_and_option_exists() -> None:
    known = {
        name: {option for each in command.params for option in (*each.opts, *each.secondary_opts)}
        for name, command in commands()
    }
    wrong = []
    for place, arguments in deployed.footy_commands():
        name = next((" ".join(arguments[:size]) for size in (2, 1) if " ".join(arguments[:size]) in known), None)
        options = {each.partition("=")[0] for each in arguments if each.startswith("-")}
        if name is None or options - known[name]:
            wrong.append(f"{place}: footy {shlex.join(arguments)}")
    assert wrong == []


def test_every_setting_exists() -> None:
    unknown = {
        f"{path.relative_to(DEPLOY)}: {name}"
        for path in deployed.files()
        for name in re.findall(r"\bFOOTY_[A-Z0-9_]+", path.read_text(encoding="utf-8"))
        if name not in SETTINGS
    }
    assert unknown == set()
    services = deployed.compose()["services"].values()
    variables = {
        name for each in services if each["image"].startswith("found-footy") for name in each["environment"]
    } - {"VNC_PASSWORD"}
    secret = deployed.load_yaml(DEPLOY / "kubernetes" / "secret.example.yaml")
    assert (variables | set(secret["stringData"])) - SETTINGS == set()


def test_all_deployments_set_the_same_engines() -> None:
    compose = set(deployed.compose()["services"]["web"]["environment"]) - {
        "FOOTY_TEMPORAL_UI_URL",
        "FOOTY_ALLOWED_HOSTS",
    }
    assert compose == set(deployed.load_yaml(DEPLOY / "kubernetes" / "secret.example.yaml")["stringData"])


def test_ports_are_those_of_the_program() -> None:
    dockerfile = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    assert re.findall(r"^EXPOSE ([\d ]+)$", dockerfile, re.MULTILINE) == [str(WEB_PORT), f"{BROWSER_PORT} 6080"]
    (web,) = deployed.pod_specs()["footy-web"]["containers"]
    assert [each["containerPort"] for each in web["ports"]] == [WEB_PORT]
    for proxy in ("nginx.conf", "Caddyfile"):
        assert f"127.0.0.1:{WEB_PORT}" in (DEPLOY / proxy).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("service", "port"), [("temporal-ui", 3200), ("s3", 3202), ("browser-login", 3203), ("temporal", 7233)]
)
def test_ports_of_the_seeds_are_kept(service: str, port: int) -> None:
    (published,) = deployed.compose()["services"][service]["ports"]
    assert published.split(":")[1] == str(port)


def test_health_checks_ask_existing_routes() -> None:
    routes = {getattr(route, "path", None) for route in create_routes().routes}
    texts = [(DEPLOY / "Dockerfile").read_text(encoding="utf-8"), (KUBERNETES / "web.yaml").read_text(encoding="utf-8")]
    asked = {path for text in texts for path in re.findall(r"/health/\w+", text)}
    assert asked == {"/health/live", "/health/ready"}
    assert asked <= routes


# --- the image


def test_the_image_has_the_version_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert f"ARG VERSION={project['version']}\n" in (DEPLOY / "Dockerfile").read_text(encoding="utf-8")


def test_the_image_is_built_from_the_lock_file_and_runs_without_root() -> None:
    dockerfile = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    installs = re.findall(r"pip install (.*?)(?: &&| \\|$)", dockerfile, re.MULTILINE)
    assert installs
    assert all("--require-hashes" in line or "--no-deps" in line for line in installs)
    assert re.findall(r"^USER (.+)$", dockerfile, re.MULTILINE)[-1] == "10001:10001"


# --- compose

SERVICE_KEYS = {
    *("image", "build", "env_file", "environment", "depends_on", "restart", "stop_signal", "stop_grace_period"),
    *("cap_drop", "security_opt", "healthcheck", "command", "user", "entrypoint", "ports", "deploy", "profiles"),
    *("shm_size", "volumes"),
}
CONDITIONS = {"service_started", "service_healthy", "service_completed_successfully"}


def test_compose_has_only_known_keys_and_existing_references() -> None:
    document = deployed.compose()
    assert {key for key in document if not key.startswith("x-")} == {"name", "services", "volumes"}
    wrong = []
    for name, service in document["services"].items():
        wrong += [f"{name}: {key}" for key in service if key not in SERVICE_KEYS]
        for other, how in service.get("depends_on", {}).items():
            target = document["services"].get(other)
            if target is None or how["condition"] not in CONDITIONS:
                wrong.append(f"{name} depends on {other}")
            elif how["condition"] == "service_healthy" and "test" not in target.get("healthcheck", {}):
                wrong.append(f"{name} waits for the health of {other}")
        for volume in service.get("volumes", ()):
            source = volume.split(":")[0]
            if source.startswith("./") and not (DEPLOY / source).exists():
                wrong.append(f"{name} mounts {source}")
            elif not source.startswith(("./", "/var/run/")) and source not in document["volumes"]:
                wrong.append(f"{name} uses the volume {source}")
    assert wrong == []


def test_compose_publishes_on_loopback_only_and_each_port_once() -> None:
    ports = [port for service in deployed.compose()["services"].values() for port in service.get("ports", ())]
    assert all(re.fullmatch(r"127\.0\.0\.1:\d+:\d+", port) for port in ports)
    assert len({port.split(":")[1] for port in ports}) == len(ports)


def test_compose_pins_every_image() -> None:
    images = [service["image"] for service in deployed.compose()["services"].values()]
    foreign = [image for image in images if not image.startswith("found-footy")]
    assert [image for image in foreign if not re.search(r":(v?\d|0|\$\{\w+:-\d)", image)] == []


def test_the_cache_of_compose_is_bounded_and_evicts_what_can_be_rebuilt() -> None:
    command = deployed.compose()["services"]["valkey"]["command"]
    options = dict(zip(command[1::2], command[2::2], strict=True))
    assert options["--maxmemory"] == "512mb"
    assert options["--maxmemory-policy"] == EVICTION_POLICY


def test_variables_of_compose_are_in_the_example() -> None:
    text = (DEPLOY / "compose.yaml").read_text(encoding="utf-8")
    example = (DEPLOY / "env.example").read_text(encoding="utf-8")
    required = set(re.findall(r"\$\{(\w+_\w+):[?-]", text)) - {"IMAGE_TAG", "TEMPORAL_VERSION", "TEMPORAL_UI_VERSION"}
    assert required
    assert {name for name in required if not re.search(rf"^{name}=", example, re.MULTILINE)} == set()


def test_compose_runs_every_part_of_the_system() -> None:
    services = set(deployed.compose()["services"])
    engines = {"temporal", "temporal-ui", "postgres", "valkey", "s3"}
    monitoring = {"prometheus", "alertmanager", "grafana"}
    assert engines | monitoring | {"migrate", "web", "worker", "library", "watchdog", "browser", "scaler"} <= services


# --- Kubernetes

TRIGGER_FIELDS = {
    *("endpoint", "endpointFromEnv", "namespace", "taskQueue", "queueTypes", "targetQueueSize"),
    *("activationTargetQueueSize", "apiKeyFromEnv", "minConnectTimeout", "unsafeSsl", "tlsServerName"),
}
"""Of KEDA's Temporal trigger."""


def settings_of_kubernetes() -> dict[str, str]:
    lines = (KUBERNETES / "settings.env").read_text(encoding="utf-8").split()
    return dict(line.split("=", 1) for line in lines)


def test_kustomize_lists_every_manifest() -> None:
    listed = {*deployed.load_yaml(KUBERNETES / "kustomization.yaml")["resources"], "kustomization.yaml"}
    assert listed == {path.name for path in KUBERNETES.glob("*.yaml")}


def test_pods_meet_the_restricted_profile_and_get_no_variables_of_services() -> None:
    for name, spec in deployed.pod_specs().items():
        assert spec["securityContext"]["runAsNonRoot"], name
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}, name
        # A Service `footy-web` would set FOOTY_WEB_PORT in every pod.
        assert spec["enableServiceLinks"] is False, name
        for container in spec["containers"]:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "capabilities": {"drop": ["ALL"]},
            }, name


def test_references_between_manifests_exist() -> None:
    objects = deployed.manifests()
    labels = {each["metadata"]["name"]: pod_labels(each) for each in objects if each["kind"] == "Deployment"}
    generated = deployed.load_yaml(KUBERNETES / "kustomization.yaml")["configMapGenerator"]
    secret = deployed.load_yaml(DEPLOY / "kubernetes" / "secret.example.yaml")["metadata"]["name"]
    for each in objects:
        match each["kind"]:
            case "Service":
                assert each["spec"]["selector"] in labels.values()
            case "PodDisruptionBudget":
                assert each["spec"]["selector"]["matchLabels"] in labels.values()
            case "Deployment":
                assert each["spec"]["selector"]["matchLabels"] == labels[each["metadata"]["name"]]
            case "ScaledObject":
                assert each["spec"]["scaleTargetRef"]["name"] in labels
    for spec in deployed.pod_specs().values():
        for container in spec["containers"]:
            assert container["envFrom"] == [
                {"configMapRef": {"name": generated[0]["name"]}},
                {"secretRef": {"name": secret}},
            ]


def pod_labels(deployment: dict[str, Any]) -> dict[str, str]:
    found: dict[str, str] = deployment["spec"]["template"]["metadata"]["labels"]
    return found


def test_keda_counts_the_queues_that_workers_serve() -> None:
    settings = settings_of_kubernetes()
    scaled = {
        each["spec"]["scaleTargetRef"]["name"]: each["spec"]
        for each in deployed.manifests()
        if each["kind"] == "ScaledObject"
    }
    served = {name: queues_served(spec, settings) for name, spec in deployed.pod_specs().items() if "worker" in name}
    counted = {name: {each["metadata"]["taskQueue"] for each in spec["triggers"]} for name, spec in scaled.items()}
    assert counted == served
    for spec in scaled.values():
        for trigger in spec["triggers"]:
            fields = trigger["metadata"]
            assert (trigger["type"], set(fields) - TRIGGER_FIELDS) == ("temporal", set())
            assert all(isinstance(value, str) for value in fields.values())
            assert set(fields["queueTypes"].split(",")) <= {"workflow", "activity"}
            assert fields["namespace"] == settings["FOOTY_TEMPORAL_NAMESPACE"]


def queues_served(spec: dict[str, Any], settings: dict[str, str]) -> set[str]:
    (container,) = spec["containers"]
    base = settings["FOOTY_TASK_QUEUE"]
    found = set()
    for kind in parse_kinds(container["args"][2]):
        lanes = [lane.queue_suffix for lane in Lane] if kind is WorkKind.LIBRARY else [""]
        found |= {queue_name(base, kind) + lane for lane in lanes}
    return found


def test_every_kind_of_work_is_served() -> None:
    commands_of_compose = [service.get("command", ()) for service in deployed.compose()["services"].values()]
    for services in (
        [command for command in commands_of_compose if "--queues" in command],
        [spec["containers"][0]["args"] for name, spec in deployed.pod_specs().items() if "worker" in name],
    ):
        assert sorted(kind for command in services for kind in parse_kinds(command[2])) == sorted(ALL_KINDS)


def test_workers_of_compose_drain_when_they_are_stopped() -> None:
    services = deployed.compose()["services"]
    (named,) = re.findall(r"FOOTY_COMPOSE_SERVICES: (\S+)", (DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    for name in named.split(","):
        assert (services[name]["stop_signal"], services[name]["restart"]) == ("SIGUSR1", "on-failure")


# --- systemd


def test_units_refer_to_each_other_and_stop_gently() -> None:
    units = deployed.units()
    for name, sections in units.items():
        assert set(sections) <= {"Unit", "Service", "Install"}, name
        for option in ("Wants", "Requires", "After", "PartOf", "WantedBy"):
            for value in (*sections.get("Unit", {}).get(option, ()), *sections.get("Install", {}).get(option, ())):
                ours = [each for each in value.split() if each.startswith("footy")]
                assert [each for each in ours if re.sub(r"@\d+", "@", each) not in units] == [], name
        if name.endswith(".service") and sections["Service"]["Type"] == ["exec"]:
            (timeout,) = sections["Service"]["TimeoutStopSec"]
            assert timeout == "6h" or int(timeout) >= 45, name


def test_units_run_without_privileges() -> None:
    for name, sections in deployed.units().items():
        if service := sections.get("Service"):
            assert (service["User"], service["NoNewPrivileges"], service["ProtectSystem"]) == (
                ["footy"],
                ["true"],
                ["strict"],
            ), name


# --- Prometheus and Grafana


@pytest.mark.parametrize("alert", deployed.alerts(), ids=lambda alert: alert["alert"])
def test_an_alert_uses_existing_metrics_and_has_a_runbook_entry(alert: dict[str, Any]) -> None:
    assert deployed.unknown_series(alert["expr"]) == set()
    assert deployed.unknown_labels(alert["expr"]) == set()
    assert alert["labels"]["severity"] in ("critical", "warning", "none")
    path, _, anchor = alert["annotations"]["runbook"].partition("#")
    assert ROOT / path == RUNBOOK
    assert anchor in anchors(RUNBOOK)
    shown = set(re.findall(r"\$labels\.(\w+)", alert["annotations"]["summary"]))
    assert shown <= set().union(*(deployed.documented_metrics().get(each, set()) for each in metrics_of(alert["expr"])))


def metrics_of(expression: str) -> set[str]:
    return {found for series in deployed.series_of(expression) if (found := deployed.metric_of(series))}


def test_the_runbook_has_no_other_alerts() -> None:
    headings = re.findall(r"^## (\w+)$", RUNBOOK.read_text(encoding="utf-8"), re.MULTILINE)
    assert headings == [alert["alert"] for alert in deployed.alerts()]


def test_a_dead_mans_switch_always_fires_and_reaches_its_receiver() -> None:
    (watchdog,) = [alert for alert in deployed.alerts() if alert["alert"] == "Watchdog"]
    assert (watchdog["expr"], "for" in watchdog) == ("vector(1)", False)
    routing = deployed.load_yaml(DEPLOY / "prometheus" / "alertmanager.yml")
    (route,) = routing["route"]["routes"]
    assert route["matchers"] == ['alertname="Watchdog"']
    receivers = {each["name"] for each in routing["receivers"]}
    assert {route["receiver"], routing["route"]["receiver"]} == receivers
    assert receivers == {"heartbeat", "people"}


def test_prometheus_scrapes_services_of_compose() -> None:
    config = deployed.load_yaml(DEPLOY / "prometheus" / "prometheus.yml")
    assert [(DEPLOY / "prometheus" / name).is_file() for name in config["rule_files"]] == [True]
    everything = (*config["scrape_configs"], *config["alerting"]["alertmanagers"])
    statics = [each["static_configs"][0] for each in everything if "static_configs" in each]
    hosts = {target.split(":")[0] for each in statics for target in each["targets"]} - {"127.0.0.1"}
    assert hosts == {"web", "temporal", "alertmanager"}
    assert hosts <= set(deployed.compose()["services"])
    assert {"targets": [f"web:{WEB_PORT}"]} in statics


def test_metrics_of_workers_are_scraped_where_they_are_served() -> None:
    config = deployed.load_yaml(DEPLOY / "prometheus" / "prometheus.yml")
    (found,) = [dns for each in config["scrape_configs"] for dns in each.get("dns_sd_configs", ())]
    services = deployed.compose()["services"]
    serving = {
        name: each["environment"]["FOOTY_WORKER_METRICS"]
        for name, each in services.items()
        if "FOOTY_WORKER_METRICS" in each.get("environment", ())
    }
    assert serving == dict.fromkeys(found["names"], f"0.0.0.0:{found['port']}")
    assert settings_of_kubernetes()["FOOTY_WORKER_METRICS"] == f"0.0.0.0:{found['port']}"
    workers = [
        each for each in deployed.manifests() if "worker" in each["metadata"]["name"] and "template" in each["spec"]
    ]
    assert len(workers) == 3
    for each in workers:
        template = each["spec"]["template"]
        assert template["metadata"]["annotations"]["prometheus.io/port"] == str(found["port"])
        assert template["spec"]["containers"][0]["ports"] == [{"name": "metrics", "containerPort": found["port"]}]


def panels() -> list[tuple[str, dict[str, Any]]]:
    return [(name, panel) for name, board in deployed.dashboards().items() for panel in board["panels"]]


def test_dashboards_use_existing_metrics() -> None:
    wrong = []
    for name, panel in panels():
        assert panel["datasource"]["uid"] == "prometheus"
        for target in panel["targets"]:
            unknown = deployed.unknown_series(target["expr"]) | deployed.unknown_labels(target["expr"])
            wrong += [f"{name}: {panel['title']}: {each}" for each in unknown]
    assert wrong == []


def test_dashboards_have_unique_ids_and_panels_that_do_not_overlap() -> None:
    boards = deployed.dashboards()
    assert len({board["uid"] for board in boards.values()}) == len(boards)
    for name, board in boards.items():
        ids = [panel["id"] for panel in board["panels"]]
        assert len(set(ids)) == len(ids)
        places = [
            (x, y)
            for panel in board["panels"]
            for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
            for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
        ]
        assert len(set(places)) == len(places), name
        assert max(x for x, _ in places) < 24, name


@pytest.mark.parametrize(
    "metric",
    [
        "footy_goal_clip_seconds",
        "footy_coverage_goals",
        "footy_coverage_burn_rate",
        "footy_losses_last_day",
        "scraper_freshness_seconds",
        "footy_queue_backlog",
        "footy_library_backlog",
    ],
)
def test_the_dashboards_show_what_operators_watch(metric: str) -> None:
    shown = {found for _, panel in panels() for target in panel["targets"] for found in metrics_of(target["expr"])}
    assert metric in shown


def test_grafana_finds_its_data_source_and_dashboards() -> None:
    folder = DEPLOY / "grafana" / "provisioning"
    (source,) = deployed.load_yaml(folder / "datasources" / "prometheus.yaml")["datasources"]
    assert (source["uid"], source["url"]) == ("prometheus", "http://prometheus:9090")
    (provider,) = deployed.load_yaml(folder / "dashboards" / "found-footy.yaml")["providers"]
    mounts = [volume.split(":")[:2] for volume in deployed.compose()["services"]["grafana"]["volumes"]]
    assert ["./grafana/dashboards", provider["options"]["path"]] in mounts
    assert ["./grafana/provisioning", "/etc/grafana/provisioning"] in mounts


# --- the checks themselves


@pytest.mark.parametrize(
    ("expression", "unknown"),
    [
        ("footy_no_such_metric > 1", {"footy_no_such_metric"}),
        ("rate(footy_http_requests_total[5m])", set()),
        ("histogram_quantile(0.5, scraper_freshness_seconds_bucket)", set()),
    ],
)
def test_unknown_metrics_are_found(expression: str, unknown: set[str]) -> None:
    assert deployed.unknown_series(expression) == unknown


def test_unknown_labels_are_found() -> None:
    assert deployed.unknown_labels('footy_goals{state="complete"}') == {"state"}


@pytest.mark.parametrize(
    ("page", "files"),
    [
        ("deploy.md", ["Dockerfile", "Caddyfile", "nginx.conf", "prometheus/rules.yml", "grafana/"]),
        ("deploy-compose.md", ["compose.yaml", "env.example"]),
        ("deploy-kubernetes.md", ["kubernetes/base"]),
        ("deploy-systemd.md", ["systemd/"]),
    ],
)
def test_each_deployment_has_its_page(page: str, files: list[str]) -> None:
    text = (DOCS / "howto" / page).read_text(encoding="utf-8")
    assert [file for file in files if not (DEPLOY / file).exists() or Path(file).name not in text] == []
    assert page == "deploy.md" or page in (DOCS / "howto" / "deploy.md").read_text(encoding="utf-8")
