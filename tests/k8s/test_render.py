"""What Helm makes of the chart: accepted values, refused ones, the committed examples."""

from __future__ import annotations

import pytest

from tests.k8s import tools

PLAIN = ("--set", "access.allowPlaintext=true")
OPEN = ("--set", "access.allowAnonymous=true")
S3 = ("--set", "s3.endpoint=s3.example:443")


@pytest.mark.parametrize("example", tools.EXAMPLES)
def test_an_example_passes_helms_lint(example: str) -> None:
    """With its warnings as errors."""
    ended = tools.run("helm", "lint", tools.CHART, "--strict", *tools.values(example))
    assert ended.returncode == 0, ended.stdout


@pytest.mark.parametrize("example", tools.EXAMPLES)
def test_an_example_is_rendered_as_committed(example: str) -> None:
    """A change of the chart shows what it does to a cluster; `make k8s-render` writes it down."""
    committed = (tools.K8S / "rendered" / f"{example}.yaml").read_text()
    assert tools.text(example) == committed, "run `make k8s-render` and look at the difference"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ((*OPEN, *S3), "would speak plain text over the network; set access.tls.enabled=true"),
        ((*PLAIN, *S3), "anybody could call the services; set access.tokens.existingSecret"),
        ((*PLAIN, *OPEN), "s3.endpoint: give host:port of an S3 service, or set seaweedfs.enabled=true"),
        ((*OPEN, *S3, "--set", "access.tls.enabled=true"), "name a Secret with tls.crt, tls.key and ca.crt"),
        ((*PLAIN, *OPEN, *S3, "--set", "service.compiler.replicas=2"), "additional properties 'service' not allowed"),
        ((*PLAIN, *OPEN, *S3, "--set", "services.compiler.config.worker=2"), "additional properties 'worker'"),
        ((*PLAIN, *OPEN, *S3, "--set", "services.compiler.config.workers=two"), "got string, want integer"),
        ((*PLAIN, *OPEN, "--set", "s3.endpoint=https://s3.example"), "does not match pattern"),
        ((*PLAIN, *OPEN, *S3, "--set", "vllm.mode=sidecar"), "minLength"),
        ((*PLAIN, *OPEN, *S3, "--set", "campaign.enabled=true"), "minItems"),
        ((*PLAIN, *OPEN, *S3, "--kube-version", "1.29.0"), "requires kubeVersion"),
    ],
)
def test_values_that_cannot_work_are_refused(settings: tuple[str, ...], message: str) -> None:
    """Before anything reaches the cluster, with the remedy."""
    ended = tools.template(*settings)
    assert ended.returncode != 0
    assert message in ended.stderr


def test_the_least_that_must_be_said() -> None:
    """Where S3 is, and how callers are known."""
    assert tools.template(*PLAIN, *OPEN, *S3).returncode == 0


@pytest.mark.parametrize("example", tools.EXAMPLES)
def test_the_services_are_what_the_release_is_tested_by(example: str) -> None:
    """`helm test` verifies the kernel of examples/, which other tests verify with running services."""
    verification = tools.named(example, "ConfigMap", "test")["data"]
    assert {name: (tools.ROOT / "examples" / name).read_text() for name in verification} == verification


@pytest.mark.parametrize("example", tools.EXAMPLES)
def test_an_installation_names_the_secrets_that_it_needs(example: str) -> None:
    """All that pods mount, but for what cert-manager makes."""
    command = ("install", tools.RELEASE, tools.CHART, "--namespace", tools.NAMESPACE, "--dry-run=client")
    extra = ("openai.existingSecret=llm", "backup.enabled=true", "backup.bucket=b", "backup.existingSecret=other")
    options = [part for setting in extra for part in ("--set", setting)]
    ended = tools.run("helm", *command, *tools.values(example), *options)
    assert ended.returncode == 0, ended.stderr
    notes = ended.stdout.partition("NOTES:")[2]
    made = {o["spec"]["secretName"] for o in tools.objects(example, "Certificate", *extra)}
    mounted = {
        volume["secret"]["secretName"]
        for _, pod in tools.pods(example, *extra)
        for volume in pod["volumes"]
        if "secret" in volume
    }
    assert {secret for secret in mounted - made if f"\n  {secret} (" not in notes} == set()


def test_the_chart_can_be_packed(tmp_path: object) -> None:
    """As it is published; what it renders to stays the same."""
    ended = tools.run("helm", "package", tools.CHART, "--destination", str(tmp_path))
    assert ended.returncode == 0, ended.stderr
    (packed,) = tmp_path.glob("*.tgz")  # type: ignore[attr-defined]
    rendered = tools.run(
        "helm", "template", tools.RELEASE, packed, "--namespace", tools.NAMESPACE, *tools.values("mi300x")
    )
    assert rendered.stdout == tools.text("mi300x")
