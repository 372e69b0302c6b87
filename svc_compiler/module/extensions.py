"""`torch.utils.cpp_extension` as a candidate sees it: what is to be compiled is collected, and compiled elsewhere."""

from __future__ import annotations

import inspect
import os
import re
import types
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
import torch.utils.cpp_extension as real

from kernelvault.v1 import plan_pb2
from svc_compiler.module.key import key_of
from svc_compiler.module.native import ModuleRecording, used_buffers
from svc_compiler.triton import cuda_answers
from svc_compiler.triton.capture_trace import MAX_EXTENSIONS, MAX_FILES, Extension
from svc_compiler.triton.recording import Stopped, Unplannable

MAX_SOURCE_BYTES = 512 << 10
_LOAD, _LOAD_INLINE = inspect.signature(real.load), inspect.signature(real.load_inline)
# What changes neither the meaning nor the result of a kernel, or is the compiler's own choice here.
_SILENT = re.compile(r"-O\w*|-std=.*|-g|-w|-W.*|-f[Pp][Ii][Cc]|-v|--offload-arch=.*|-march=.*|-mcpu=.*|-fopenmp")


class Extensions:
    """The extensions of one run, in the order in which they were first loaded.

    `given` are the candidate's files below `sources`. `built` are the keys of those that the recorder's library
    holds; a call of any other ends the run.
    """

    def __init__(self, recording: ModuleRecording, sources: Path, given: Sequence[str], built: Sequence[str]) -> None:
        self._recording = recording
        self._sources = sources
        self._given = {sources / path: (sources / path).read_bytes() for path in given}
        self._built = list(built)
        self.loaded: dict[str, Extension] = {}

    def install(self) -> None:
        """Takes the place of torch's functions that compile, for the rest of the process."""
        for name, function in (("load_inline", self._load_inline), ("load", self._load)):
            setattr(real, name, function)
        for name in ("CUDAExtension", "CppExtension", "BuildExtension"):
            setattr(real, name, _unsupported(self._recording, name))
        # Extensions know streams, though Python has but one.
        torch.cuda.synchronize = self._synchronize
        cuda_answers.Stream.synchronize = self._synchronize

    def _load_inline(self, *args: Any, **kwargs: Any) -> Any:
        given = _bound(_LOAD_INLINE, args, kwargs)
        texts = [_list(given[name]) for name in ("cpp_sources", "cuda_sources")]
        functions = given["functions"]
        if functions is not None:
            functions = dict(functions) if isinstance(functions, dict) else {name: name for name in _list(functions)}
        return self._add(given, [("", str(text), "") for one in texts for text in one], functions)

    def _load(self, *args: Any, **kwargs: Any) -> Any:
        given = _bound(_LOAD, args, kwargs)
        return self._add(given, [self._file(os.fspath(path)) for path in _list(given["sources"])], None)

    def _file(self, given: str) -> tuple[str, str, str]:
        path = next((one for one in (Path(given), self._sources / given) if one.is_file()), Path(given))
        resolved = path.resolve()
        contents = path.read_bytes()
        # One that the module wrote is nowhere but here.
        inside = self._given.get(resolved) == contents
        text = contents.decode(errors="replace")
        return str(resolved.relative_to(self._sources)) if inside else "", text, path.name

    def _add(self, given: dict[str, Any], sources: list[tuple[str, str, str]], functions: dict[str, str] | None) -> Any:
        place = self._recording.place()
        if len(sources) > MAX_FILES:
            raise Unplannable(f"an extension has more than {MAX_FILES} sources ({place})")
        if not given.get("is_python_module", True):
            raise Unplannable(f"host code loads an extension that registers operators with torch ({place})")
        flags = [str(flag) for name in ("extra_cflags", "extra_cuda_cflags") for flag in given.get(name) or ()]
        flags = [f"-D{flag}" if before == "-D" else flag for before, flag in pairwise(["", *flags]) if flag != "-D"]
        defines = [flag[2:].strip() for flag in flags if flag.startswith("-D")]
        others = [flag for flag in flags if not flag.startswith("-D") and not _SILENT.fullmatch(flag)]
        if others:
            self._note(f"Flags that are left out: {', '.join(others)} ({place}).")
        if given.get("extra_include_paths"):
            self._note(f"`extra_include_paths` is left out: headers lie beside the sources ({place}).")
        described = Extension(str(given["name"]), sources, functions, list(dict.fromkeys(defines)), place)
        key = key_of(described)
        if key not in self.loaded and len(self.loaded) == MAX_EXTENSIONS:
            raise Unplannable(f"host code loads more than {MAX_EXTENSIONS} extensions")
        self.loaded.setdefault(key, described)
        size = sum(len(one[1]) for extension in self.loaded.values() for one in extension.sources)
        if size > MAX_SOURCE_BYTES:
            raise Unplannable(f"host code loads extensions of {size} bytes; at most {MAX_SOURCE_BYTES} are compiled")
        return Loaded(self, key, described.name)

    def _synchronize(self, *args: Any, **kwargs: Any) -> None:
        recording = self._recording
        if recording.native and not recording.stopped:
            recording.emit(launch=plan_pb2.Launch(kernel=recording.native.calls))
            recording.native.synchronize()

    def _note(self, text: str) -> None:
        if text not in self._recording.notes:
            self._recording.notes.append(text)

    def prefix(self, key: str) -> str | None:
        """What the names of the extension's functions begin with in the library; None if it is not built."""
        return f"{self._built.index(key)}." if key in self._built and self._recording.native else None

    def defines(self, key: str, name: str) -> bool:
        """Whether an extension has the function; one that is not built has any."""
        prefix = self.prefix(key)
        native = self._recording.native
        return prefix is None or native is None or native.defines(prefix + name)

    def call(self, key: str, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Calls a function; raises Stopped where it is not built yet, and what it throws as RuntimeError."""
        recording, prefix = self._recording, self.prefix(key)
        if prefix is None or recording.native is None:
            recording.stopped = True
            raise Stopped(f"the extension of `{name}` is not built yet")
        if recording.stopped:
            raise Stopped("the capture has ended")
        with torch._C.DisableTorchFunction():
            given = used_buffers(recording, [args, list(kwargs.values())])
            relocations = [plan_pb2.Relocation(buffer=index) for index in dict.fromkeys(given)]
            # Stands for all that the call does.
            recording.emit(launch=plan_pb2.Launch(kernel=recording.native.calls, relocations=relocations))
            return recording.native.call(recording, prefix + name, args, kwargs)


class Loaded(types.ModuleType):
    """What `load` gives: a module with the functions of an extension."""

    def __init__(self, extensions: Extensions, key: str, name: str) -> None:
        super().__init__(name)
        self.__dict__["_kernelvault"] = (extensions, key)

    def __getattr__(self, name: str) -> Any:
        extensions, key = self.__dict__["_kernelvault"]
        if name.startswith("__") or not extensions.defines(key, name):
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")

        def function(*args: Any, **kwargs: Any) -> Any:
            return extensions.call(key, name, args, kwargs)

        function.__name__ = function.__qualname__ = name
        return function

    def __deepcopy__(self, memo: Any) -> Loaded:
        return self


def _bound(signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    return dict(bound.arguments)


def _list(value: Any) -> list[Any]:
    return [] if value is None else [value] if isinstance(value, str | os.PathLike) else list(value)


def _unsupported(recording: ModuleRecording, name: str) -> Callable[..., Any]:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise Unplannable(f"host code uses `torch.utils.cpp_extension.{name}` ({recording.place()}); use `load_inline`")

    return refuse
