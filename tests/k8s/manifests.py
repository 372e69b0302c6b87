"""Checks manifests strictly: run by the Python of scripts/install-k8s-tools.

usage: manifests.py FILE... --versions 1.30 1.37 [--crds FOLDER]

Prints a line for each fault. Kubernetes' own kinds go by its schemas, pod templates inside of custom resources too;
KubeRay's by its definitions in FOLDER, else by k8s/tests/kuberay.schema.json; the others by the models that were
generated from their definitions.
"""

from __future__ import annotations

import argparse
import copy
import functools
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import referencing
import referencing.jsonschema
import yaml

RAY_SCHEMA = Path(__file__).parents[2] / "k8s" / "tests" / "kuberay.schema.json"
SCHEMAS = Path(kubernetes_validate.__file__).parent / "kubernetes-json-schema"
MODELED = ("keda.sh/v1alpha1", "cert-manager.io/v1", "monitoring.coreos.com/v1")


def main() -> int:
    """0 where nothing is at fault."""
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--versions", nargs="+", required=True)
    parser.add_argument("--crds", type=Path)
    options = parser.parse_args()
    # What several files share is checked once: a check takes a tenth of a second.
    documents = {
        json.dumps(document, sort_keys=True): (path, document)
        for path in options.files
        for document in yaml.safe_load_all(path.read_text())
        if document
    }
    faults = [
        f"{path.name}: {document['kind']}/{document['metadata']['name']}: {fault}"
        for path, document in documents.values()
        for fault in check(document, options.versions, options.crds)
    ]
    print("\n".join(faults))
    return bool(faults)


def check(document: Any, versions: list[str], crds: Path | None) -> Iterator[str]:
    """The faults of one object."""
    api = document["apiVersion"]
    if api.startswith("ray.io/"):
        yield from _against(_ray_schema(document["kind"], crds), document)
        for template in _pod_templates(document):
            pod = {"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": "x"}, "template": template}
            yield from _core(pod, versions)
    elif api in MODELED:
        yield from _modeled(document)
    else:
        yield from _core(document, versions)


def _core(document: Any, versions: list[str]) -> Iterator[str]:
    group, _, number = document["apiVersion"].rpartition("/")
    name = "-".join(part for part in (document["kind"].lower(), group.split(".")[0], number) if part)
    for version in versions:
        path = SCHEMAS / f"v{version}.0-local-strict" / f"{name}.json"
        if not path.exists():
            yield f"Kubernetes {version} has no {document['apiVersion']} {document['kind']}"
            continue
        schema = json.loads(path.read_text())
        validator = jsonschema.Draft202012Validator(schema, registry=_definitions(path.parent))
        for error in validator.iter_errors(document):
            yield f"Kubernetes {version}: {error.json_path}: {error.message[:300]}"


@functools.cache
def _definitions(folder: Path) -> referencing.Registry[Any]:
    """What the schemas of one version refer to; read once, for it is a megabyte."""
    path = folder / "_definitions.json"
    resource = referencing.jsonschema.DRAFT202012.create_resource(json.loads(path.read_text()))
    return referencing.Registry().with_resource(path.name, resource).crawl()


def _pod_templates(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "template":
                yield inner
            else:
                yield from _pod_templates(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _pod_templates(inner)


@functools.cache
def _ray_schema(kind: str, crds: Path | None) -> dict[str, Any]:
    if crds is None:
        schema = json.loads(RAY_SCHEMA.read_text())
        return {**schema, "$ref": f"#/$defs/{kind}"}
    for path in sorted(crds.glob("*.yaml")):
        definition = yaml.safe_load(path.read_text())
        if definition["spec"]["names"]["kind"] == kind:
            (version,) = (v for v in definition["spec"]["versions"] if v["name"] == "v1")
            return _strict(version["schema"]["openAPIV3Schema"], root=True)
    raise SystemExit(f"no definition of {kind} in {crds}")


def _strict(schema: Any, root: bool = False) -> Any:
    """A structural schema that refuses unknown fields, as the API server does with `fieldValidation=Strict`."""
    if isinstance(schema, list):
        return [_strict(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: _strict(value) for key, value in schema.items() if key not in ("description", "pattern")}
    if isinstance(schema.get("properties"), dict):
        made["properties"] = {name: _strict(value) for name, value in schema["properties"].items()}
        if not schema.get("x-kubernetes-preserve-unknown-fields"):
            made.setdefault("additionalProperties", False)
    if schema.get("x-kubernetes-int-or-string"):
        made = {"type": ["integer", "string"]}
    if root:
        made["properties"]["metadata"] = {"type": "object"}
    return made


def _against(schema: dict[str, Any], document: Any) -> Iterator[str]:
    for error in jsonschema.Draft202012Validator(schema).iter_errors(document):
        yield f"{error.json_path}: {error.message[:300]}"


def _modeled(document: Any) -> Iterator[str]:
    try:
        model = _model(document["apiVersion"], document["kind"]).model_validate(copy.deepcopy(document))
    except Exception as error:
        yield str(error)
        return
    # Only what was given: the models leave out fields that they do not know.
    known = model.model_dump(by_alias=True, exclude_unset=True, mode="json")
    yield from (f"unknown field {path}" for path in _lost(document, known, ""))


def _model(api: str, kind: str) -> Any:
    if api == "keda.sh/v1alpha1":
        from cloudcoil.models.keda import v1alpha1 as module
    elif api == "cert-manager.io/v1":
        from cloudcoil.models.cert_manager import v1 as module
    else:
        from cloudcoil.models.prometheus_operator import v1 as module
    return getattr(module, kind)


def _lost(given: Any, known: Any, path: str) -> Iterator[str]:
    if isinstance(given, dict) and isinstance(known, dict):
        for key, value in given.items():
            if key not in known:
                yield f"{path}.{key}"
            else:
                yield from _lost(value, known[key], f"{path}.{key}")
    elif isinstance(given, list) and isinstance(known, list):
        for index, (one, other) in enumerate(zip(given, known, strict=True)):
            yield from _lost(one, other, f"{path}[{index}]")


if __name__ == "__main__":
    sys.exit(main())
