"""`python -m svc_corpus.backup`: copies a corpus to another place in S3 while it is used, and back.

What refers to others is listed before what it refers to and written after it. Objects are only added, but for old
versions of tables, which the corpus removes: what was copied is validated, and copied again where it lacks something.
"""

from __future__ import annotations

import dataclasses
import itertools
import os
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import structlog
import urllib3
from minio.error import S3Error

from kernelvault import config, errors
from svc_corpus import s3, table
from svc_corpus.settings import CorpusConfig

_TABLES = ("samples", "snapshots")
_FOLDERS = ("blobs/", "tasks/", "actions/")
# By which a reader finds a table's latest version.
_VERSIONS = "_versions/"
_TRIES = 5
_THREADS = 16
_log = structlog.get_logger()


@dataclasses.dataclass(frozen=True, kw_only=True)
class BackupConfig(CorpusConfig):
    """The corpus that is read, as its service is configured, and where it is copied to."""

    # As `s3_endpoint` and so on; the place of the corpus where nothing is said.
    backup_endpoint: str = ""
    backup_bucket: str = ""
    backup_prefix: str = ""
    backup_region: str = ""
    backup_secure: bool | None = None
    backup_access_key_file: Path | None = None
    backup_secret_key_file: Path | None = None

    def target(self) -> CorpusConfig:
        """Where to copy to; raises ConfigError where that is the corpus itself."""
        names = {field.name for field in dataclasses.fields(CorpusConfig)}
        own = {name: getattr(self, name) for name in names}
        own["prefix"] = self.backup_prefix
        given = ("endpoint", "bucket", "region", "secure", "access_key_file", "secret_key_file")
        for name in given:
            value = getattr(self, f"backup_{name}")
            if value not in ("", None):
                own[f"s3_{name}"] = value
                if name.endswith("_file"):
                    own[f"s3_{name.removesuffix('_file')}"] = ""
        target = CorpusConfig(**own)
        if all(getattr(target, name) == getattr(self, name) for name in ("s3_endpoint", "s3_bucket", "prefix")):
            raise config.ConfigError(
                "failed to read the configuration: the copy would go to the corpus itself; set "
                "KERNELVAULT_BACKUP_BUCKET, KERNELVAULT_BACKUP_PREFIX or KERNELVAULT_BACKUP_ENDPOINT"
            )
        return target


@dataclasses.dataclass
class Counts:
    """What a copy did."""

    copied: int = 0
    copied_bytes: int = 0
    there: int = 0
    gone: int = 0


def copy(source: s3.Objects, target: s3.Objects) -> Counts:
    """One pass; raises errors.Unavailable. What the target has already is left alone."""
    counts = Counts()
    folders = [f"{name}.lance/" for name in _TABLES]
    versions = [item for folder in folders for item in source.find(folder + _VERSIONS)]
    parts = (item for folder in folders for item in source.find(folder) if _VERSIONS not in item.name)
    _copy_all(source, target, itertools.chain(parts, *map(source.find, _FOLDERS)), counts)
    _copy_all(source, target, versions, counts)
    return counts


def _copy_all(source: s3.Objects, target: s3.Objects, items: Iterable[s3.Item], counts: Counts) -> None:
    present = {item.name: item for item in target.find("")}

    def one(item: s3.Item) -> None:
        if _same(item, present.get(item.name)):
            counts.there += 1
        elif source.copy(item, target):
            counts.copied += 1
            counts.copied_bytes += item.size_bytes
        else:
            counts.gone += 1

    with ThreadPoolExecutor(_THREADS, "copy") as threads:
        for batch in _batches(items, 1000):
            list(threads.map(one, batch))


def _same(item: s3.Item, other: s3.Item | None) -> bool:
    """A blob is named by its content; of others the store's own digest decides, where both have the same kind."""
    if other is None or other.size_bytes != item.size_bytes:
        return False
    return item.name.startswith("blobs/") or other.etag == item.etag


def _batches(items: Iterable[s3.Item], size: int) -> Iterator[list[s3.Item]]:
    iterator = iter(items)
    while batch := list(itertools.islice(iterator, size)):
        yield batch


def run(settings: BackupConfig) -> Counts:
    """Copies until the copy is whole; raises errors.Unavailable or errors.DataLoss."""
    place = settings.target()
    source, target = s3.Objects(settings), s3.Objects(place)
    target.ensure_bucket()
    for attempt in range(1, _TRIES + 1):
        counts = copy(source, target)
        fault = next(filter(None, (table.fault(place, name) for name in _TABLES)), "")
        _log.info("copied", attempt=attempt, fault=fault, **dataclasses.asdict(counts))
        if not fault:
            return counts
    raise errors.DataLoss("COPY_INCOMPLETE", f"failed to copy the corpus: {fault}")


def main() -> int:
    """0, or 2 with one line on stderr."""
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    try:
        counts = run(config.load(BackupConfig, os.environ))
    except (config.ConfigError, errors.Error, S3Error, urllib3.exceptions.HTTPError) as error:
        print(error, file=sys.stderr)
        return 2
    print(f"copied {counts.copied} objects of {counts.copied_bytes} bytes; {counts.there} were there")
    return 0


if __name__ == "__main__":
    sys.exit(main())
