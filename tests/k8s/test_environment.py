"""Whether processes start with what the chart gives them."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kernelvault import addresses, config
from kernelvault.access import exposure
from orchestrator.gateway.settings import GatewayConfig
from svc_compiler.config import CompilerConfig
from svc_corpus.backup import BackupConfig
from svc_corpus.settings import CorpusConfig
from svc_generator.settings import GeneratorConfig
from svc_profiler.settings import ProfilerConfig
from svc_trainer.settings import TrainerConfig
from tests.k8s import tools

KINDS: dict[str, Any] = {
    "corpus": CorpusConfig,
    "compiler": CompilerConfig,
    "profiler": ProfilerConfig,
    "generator": GeneratorConfig,
    "trainer": TrainerConfig,
    "gateway": GatewayConfig,
}
GATEWAY = ("services.gateway.enabled=true",)
# What the chart sets itself, from values that say it once for all services.
MANAGED = {
    *("address", "metrics_port", "drain_seconds", "max_connection_age_seconds", "otlp_endpoint", "ready_file"),
    *("corpus_address", "compiler_address", "profiler_address", "cache_dir", "prefix", "case_secret"),
    *("case_secret_file", "token"),
    *("token_file", "tokens_file", "allow_plaintext", "allow_anonymous", "openai_endpoint", "openai_models"),
    *("openai_api_key", "openai_api_key_file", "tls_ca_file", "tls_client_cert_file", "tls_client_key_file"),
    *("tls_cert_file", "tls_key_file", "tls_client_ca_file", "s3_endpoint", "s3_access_key", "s3_access_key_file"),
    *("s3_secret_key", "s3_secret_key_file", "s3_bucket", "s3_region", "s3_secure"),
}


def _container(example: str, service: str, *settings: str) -> dict[str, Any]:
    deployment = tools.named(example, "Deployment", service, *settings)
    container: dict[str, Any] = deployment["spec"]["template"]["spec"]["containers"][0]
    return container


def _environment(container: dict[str, Any]) -> dict[str, str]:
    return {entry["name"]: entry["value"] for entry in container["env"] if "value" in entry}


@pytest.mark.parametrize("example", tools.EXAMPLES)
@pytest.mark.parametrize("service", KINDS)
def test_a_service_takes_its_environment(example: str, service: str) -> None:
    """No name that it does not know, no value that it cannot parse, nothing that it refuses to show to the network."""
    container = _container(example, service, *GATEWAY)
    settings = config.load(KINDS[service], _environment(container))
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    port = ports["http" if service == "gateway" else "grpc"]
    assert settings.address == f"0.0.0.0:{port}"
    assert port == addresses.DEFAULT_PORTS.get(service, 8080)
    assert settings.metrics_port == ports["metrics"]
    exposure.check_listening(settings)
    for name, address in _environment(container).items():
        if name.endswith("_ADDRESS") and name != "KERNELVAULT_ADDRESS":
            exposure.check_dialling(address, settings)
    assert "HOME" in _environment(container)


def test_a_backup_takes_its_environment() -> None:
    """Where the corpus is, as the corpus is told, and where the copy goes."""
    elsewhere = ("backup.endpoint=other.example:9000", "backup.secure=false", "backup.existingSecret=other")
    for example, settings in (("cluster", ()), ("cluster", elsewhere), ("laptop", ("backup.enabled=true", *elsewhere))):
        job = tools.named(example, "CronJob", "backup", *settings)["spec"]["jobTemplate"]["spec"]["template"]["spec"]
        read = config.load(BackupConfig, _environment(job["containers"][0]))
        corpus = config.load(CorpusConfig, _environment(_container(example, "corpus")))
        assert (read.s3_endpoint, read.s3_bucket, read.s3_secure) == (
            *(corpus.s3_endpoint, corpus.s3_bucket),
            corpus.s3_secure,
        )
        copied = read.target()
        expected = ("other.example:9000", False) if settings else (corpus.s3_endpoint, True)
        assert (copied.s3_endpoint, copied.s3_secure) == expected


def test_a_service_can_be_left_out() -> None:
    """With all that belongs to it; `false` and 0 count as said."""
    off = ("services.trainer.enabled=false", "defaults.gpu.count=1", "services.compiler.gpu.count=0")
    names = {o["metadata"]["name"] for o in tools.objects("laptop", "", *off)}
    assert not any("trainer" in name for name in names)
    policy = tools.named("laptop", "NetworkPolicy", "corpus", *off)["spec"]["ingress"][0]
    assert "trainer" not in json.dumps(policy)
    limits = {name: _container("laptop", name, *off)["resources"]["limits"] for name in ("compiler", "corpus")}
    assert ["amd.com/gpu" in limits[name] for name in ("compiler", "corpus")] == [False, True]


@pytest.mark.parametrize("service", KINDS)
def test_every_setting_can_be_given_and_no_other(service: str) -> None:
    """`services.NAME.config` takes the fields of the configuration class that the chart does not set itself.

    A new field belongs into k8s/chart/values.schema.json, or into the chart's templates and MANAGED here.
    """
    schema = json.loads((tools.CHART / "values.schema.json").read_text())
    allowed = set(schema["properties"]["services"]["properties"][service]["properties"]["config"]["properties"])
    fields = {field.name for field in dataclasses.fields(KINDS[service])}
    assert allowed == fields - MANAGED


def test_numbers_stay_as_they_were_written() -> None:
    """Large whole numbers are not written as 1e+06, and fractions are not cut."""
    config_of = "services.generator.config"
    changes = (f"{config_of}.openai_total_tokens:=50000000", f"{config_of}.openai_temperature:=0.35")
    environment = _environment(_container("mi300x", "generator", *changes))
    assert environment["KERNELVAULT_OPENAI_TOTAL_TOKENS"] == "50000000"
    assert environment["KERNELVAULT_OPENAI_TEMPERATURE"] == "0.35"


@pytest.mark.parametrize("example", tools.EXAMPLES)
def test_files_that_a_setting_names_are_mounted(example: str) -> None:
    """Each `_FILE` and each folder lies below a mount of its container; written ones below a writable one."""
    for name, pod in tools.pods(example):
        for container in pod["containers"]:
            mounts = {mount["mountPath"]: mount.get("readOnly", False) for mount in container["volumeMounts"]}
            for variable, value in _environment(container).items():
                if variable.endswith(("_FILE", "_DIR", "_STATE", "HOME")):
                    under = [read_only for path, read_only in mounts.items() if Path(value).is_relative_to(path)]
                    assert under, f"{name}: {variable}={value} is not below a mount"
                    given = variable.endswith(("_FILE", "_REFERENCES_DIR"))
                    assert given or under == [False], f"{name}: {variable} is read-only"


@pytest.mark.parametrize("example", tools.EXAMPLES)
def test_a_pod_has_time_to_drain(example: str) -> None:
    """It is killed only after it had its full time to leave DNS and to end its calls."""
    for service, kind in KINDS.items():
        pod = tools.named(example, "Deployment", service, *GATEWAY)["spec"]["template"]["spec"]
        container = pod["containers"][0]
        drain_s = config.load(kind, _environment(container)).drain_seconds
        leave_s = container["lifecycle"]["preStop"]["sleep"]["seconds"]
        assert pod["terminationGracePeriodSeconds"] >= leave_s + drain_s + 10


def test_drain_covers_the_longest_verification() -> None:
    """By default no verification is cut short by an upgrade."""
    compiler = config.load(CompilerConfig, _environment(_container("mi300x", "compiler")))
    assert compiler.drain_seconds >= compiler.max_timeout_seconds


def test_probes_ask_where_they_are_answered() -> None:
    """Over gRPC; with TLS beside the metrics, for the kubelet speaks none. A store that is away restarts nothing."""

    def probes(example: str) -> dict[str, Any]:
        container = _container(example, "corpus")
        found = {name: dict(container[f"{name}Probe"]) for name in ("startup", "liveness", "readiness")}
        return {name: probe.get("grpc") or probe["httpGet"] for name, probe in found.items()}

    live, alive = {"port": 50054, "service": "live"}, {"path": "/livez", "port": "metrics"}
    assert probes("laptop") == {"startup": live, "liveness": live, "readiness": {"port": 50054}}
    ready = {"path": "/readyz", "port": "metrics"}
    assert probes("mi300x") == {"startup": alive, "liveness": alive, "readiness": ready}


def test_clients_resolve_all_pods() -> None:
    """Headless services, and addresses that gRPC resolves by itself; variables for services would be unknown ones."""
    for service in KINDS.keys() - {"gateway"}:
        assert tools.named("cluster", "Service", service)["spec"]["clusterIP"] == "None"
    environment = _environment(_container("cluster", "profiler"))
    assert environment["KERNELVAULT_CORPUS_ADDRESS"] == (
        "dns:///kernelvault-corpus.kernelvault.svc.cluster.local:50054"
    )
    assert all(pod["enableServiceLinks"] is False for _, pod in tools.pods("cluster"))


def test_the_generator_finds_its_model() -> None:
    """In its own pod, in pods of the release, or outside of it."""
    outside = ("openai.endpoint=https://llm.example/v1", "openai.models={a,b}", "openai.existingSecret=llm")
    found = {
        "sidecar": _environment(_container("mi300x", "generator")),
        "deployment": _environment(_container("cluster", "generator")),
        "outside": _environment(_container("laptop", "generator", *outside)),
    }
    names = ("KERNELVAULT_OPENAI_ENDPOINT", "KERNELVAULT_OPENAI_MODELS", "KERNELVAULT_OPENAI_API_KEY_FILE")
    assert {mode: tuple(environment.get(name) for name in names) for mode, environment in found.items()} == {
        "sidecar": ("http://127.0.0.1:8000/v1", "Qwen3-Coder-30B-A3B-Instruct", None),
        "deployment": (
            "http://kernelvault-vllm.kernelvault.svc.cluster.local:8000/v1",
            "Qwen3-Coder-480B-A35B-Instruct-FP8",
            None,
        ),
        "outside": ("https://llm.example/v1", "a,b", "/etc/kernelvault/openai/api-key"),
    }


def test_a_shard_runs_with_its_own_arguments(tmp_path: Path) -> None:
    """The Job's own command line, with words that hold blanks and stars, and the exit code of the run."""
    job = tools.named("laptop", "Job", "campaign-starter")["spec"]
    container = job["template"]["spec"]["containers"][0]
    shards = tmp_path / "shards"
    shards.mkdir()
    (shards / "7").write_text("--tasks\nsoft max,*norm\n/tasks/a folder\n")
    (tmp_path / "kernelvault").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\nexit 2\n')
    (tmp_path / "kernelvault").chmod(0o755)
    script = container["args"][0].replace("/etc/kernelvault/shards", str(shards))
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "RUN": "first", "CONCURRENCY": "4", "SHARD": "7"}
    ended = subprocess.run(
        [*container["command"], script], env=environment, capture_output=True, text=True, check=False
    )
    words = ["run", "--run", "first-7", "--concurrency", "4", "--tasks", "soft max,*norm", "/tasks/a folder"]
    assert (ended.stdout.splitlines(), ended.returncode) == (words, 2)
    assert (job["completionMode"], job["completions"]) == ("Indexed", 2)
