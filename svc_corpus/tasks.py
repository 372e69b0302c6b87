"""Tasks: immutable S3 objects under their content-derived names."""

from __future__ import annotations

import asyncio
import collections
import re
import time

from kernelvault import digest, errors
from kernelvault.v1 import kernel_pb2
from svc_corpus import filters, pages, s3

_TITLE = re.compile(r"[a-z0-9_-]{1,80}")
_MAX_CASES = 1000
_MAX_TASK_BYTES = 8 << 20
_MAX_PAGE_BYTES = 32 << 20
_REMEMBERED = 256


class Tasks:
    """Creates, gets and lists tasks. Listing is by name, a page at a time."""

    def __init__(self, store: s3.ObjectStore) -> None:
        self._store = store
        self._recent: collections.OrderedDict[str, kernel_pb2.Task] = collections.OrderedDict()

    async def create(self, given: kernel_pb2.Task) -> kernel_pb2.Task:
        """Stores a task under its name, or returns the stored one.

        Of two servers that create one task at the same moment both store the same content; the later creation time
        stays. Raises errors.InvalidArgument.
        """
        task = _checked(given)
        try:
            return await self.get(task.name)
        except errors.NotFound:
            pass
        task.create_time.FromNanoseconds(time.time_ns())
        data = task.SerializeToString()
        await self._store.put(_key(task.name), data, len(data))
        return self._remember(task)

    async def get(self, name: str) -> kernel_pb2.Task:
        """A stored task; raises errors.NotFound."""
        if name in self._recent:
            self._recent.move_to_end(name)
            return self._recent[name]
        data = await self._store.get(_key(name)) if filters.TASK.fullmatch(name) else None
        if data is None:
            raise errors.NotFound("TASK_UNKNOWN", f"there is no task {name[:120]!r}", task=name[:120])
        return self._remember(kernel_pb2.Task.FromString(data))

    async def page(self, page_size: int, page_token: str) -> tuple[list[kernel_pb2.Task], str]:
        """A page in the order of the names, and the token of the next; a page holds at least one task, if any."""
        position = pages.decode("tasks", page_token, str)
        after = _key(f"tasks/{position[0]}") if position else ""
        keys = await self._store.keys("tasks/", after=after, limit=page_size + 1)
        names = [key.removesuffix(".pb") for key in keys]
        tasks: list[kernel_pb2.Task] = []
        size = 0
        for task in await asyncio.gather(*(self.get(name) for name in names[:page_size])):
            size += task.ByteSize()
            if tasks and size > _MAX_PAGE_BYTES:
                break
            tasks.append(task)
        more = len(tasks) < len(names)
        return tasks, pages.encode("tasks", tasks[-1].name.removeprefix("tasks/")) if more else ""

    def _remember(self, task: kernel_pb2.Task) -> kernel_pb2.Task:
        self._recent[task.name] = task
        if len(self._recent) > _REMEMBERED:
            self._recent.popitem(last=False)
        return task


def _key(name: str) -> str:
    return f"{name}.pb"


def _checked(given: kernel_pb2.Task) -> kernel_pb2.Task:
    """A copy with all digests and the name filled in; raises errors.InvalidArgument."""
    task = kernel_pb2.Task()
    task.CopyFrom(given)
    if not _TITLE.fullmatch(task.title):
        message = f"{task.title[:120]!r} is not 1 to 80 lower-case letters, digits, `_` and `-`"
        raise errors.InvalidArgument("task.title", message)
    task.reference.CopyFrom(digest.check_artifact(task.reference, "task.reference"))
    if task.HasField("functional"):
        task.functional.CopyFrom(digest.check_artifact(task.functional, "task.functional"))
    _check_cases(task)
    if task.ByteSize() > _MAX_TASK_BYTES:
        raise errors.InvalidArgument("task", f"{task.ByteSize()} bytes are above the limit of {_MAX_TASK_BYTES}")
    task.name = digest.task_name(task)
    if given.name and given.name != task.name:
        message = f"{given.name[:120]!r} is not the name of this content, {task.name!r}; leave it out"
        raise errors.InvalidArgument("task.name", message)
    return task


def _check_cases(task: kernel_pb2.Task) -> None:
    if not 1 <= len(task.cases) <= _MAX_CASES:
        message = f"{len(task.cases)} cases; give 1 to {_MAX_CASES}, as Compiler.PrepareTask makes them"
        raise errors.InvalidArgument("task.cases", message)
    counts = collections.Counter(case.id for case in task.cases)
    repeated = [name for name, count in counts.items() if count > 1 or not name]
    if repeated:
        raise errors.InvalidArgument("task.cases", f"the id {repeated[0]!r} is empty or not unique")
