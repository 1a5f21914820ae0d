"""The compiled model: its precision, and how batches reach it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from itertools import chain, islice
from pathlib import Path
from queue import SimpleQueue
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from monjyu_core.embedding.micro_batching import Ids, MicroBatcher, Vectors
from monjyu_core.errors import ConfigurationError

if TYPE_CHECKING:
    from monjyu_core.embedding.local.runtime import ov

Precision = Literal["auto", "f32", "bf16", "int8"]
Key = TypeVar("Key")


class ModelSource(Protocol):
    """The source of an engine's model."""

    def build(self) -> ov.Model:
        """Read and check the files and build the model."""
        ...

    def inputs(self, ids: Ids) -> Sequence[NDArray[Any]]:
        """The model's inputs for ids (n, tokens)."""
        ...


def resolve_precision(wanted: Precision) -> Literal["f32", "bf16", "int8"]:
    """The precision to use: `wanted`, or for `auto` bf16 on processors with bf16 matrix units (AMX), else f32.

    bf16 arithmetic without matrix units (AVX-512) took twice the time of f32, so it is used only on request.
    Raises ConfigurationError for bf16 on a processor that has neither.
    """
    flags = _processor_flags()
    if wanted == "auto":
        return "bf16" if "amx_bf16" in flags else "f32"
    if wanted == "bf16" and not flags & {"amx_bf16", "avx512_bf16"}:
        raise ConfigurationError("This processor has no bf16 arithmetic.", "Set embedding.precision to auto or f32.")
    return wanted


def multiplies_integers() -> bool:
    """Whether the engine's 8-bit products are exact and quick here: with VNNI (AMX too) in AVX-512, or in AVX2 on
    processors without AVX-512. It takes the widest registers, so VNNI in AVX2 does not help if AVX-512 lacks it."""
    flags = _processor_flags()
    return "avx512_vnni" in flags or ("avx_vnni" in flags and "avx512f" not in flags)


def _processor_flags() -> set[str]:
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8", errors="replace") as lines:
            return next((set(line.partition(":")[2].split()) for line in lines if line.startswith("flags")), set())
    except OSError:
        return set()


def engine_name(precision: str) -> str:
    """The engine, its version without the patch number (vectors agree to 1e-6 within a release), and the precision."""
    return f"openvino-{'.'.join(version('openvino').split('.')[:2])}-{precision}"


def core_count() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Compiled:
    """The model compiled for a number of streams, with one request per stream. Each stream runs on one core."""

    def __init__(self, model: ov.Model, precision: str, streams: int) -> None:
        from monjyu_core.embedding.local.runtime import ov

        properties = {
            "INFERENCE_PRECISION_HINT": precision,
            "NUM_STREAMS": str(streams),
            "INFERENCE_NUM_THREADS": str(streams),
            # With pinning, the streams of several processes would share the first cores.
            "ENABLE_CPU_PINNING": False,
        }
        compiled = ov.Core().compile_model(model, "CPU", properties)
        self.streams = streams
        self._requests: SimpleQueue[Any] = SimpleQueue()
        for _ in range(streams):
            self._requests.put(compiled.create_infer_request())

    def infer(self, inputs: Sequence[NDArray[Any]]) -> Vectors:
        """Vectors (n, 384). Waits while all streams are taken."""
        request = self._requests.get()
        try:
            request.infer(dict(enumerate(inputs)))
            return np.array(request.get_output_tensor(0).data, dtype=np.float32)
        finally:
            self._requests.put(request)


FEW = 16
"""Maximum number of batches (the sentences of one or two searches) for which a process with the narrow form does not
compile the wide one."""


class Engine:
    """The model on the CPU: compiled narrow (one stream) for questions, wide (one stream per core) for batches.

    There are two forms because a narrow one compiles in two thirds of the time, and a process that only answers
    questions needs no other. Only the compiled model stays in memory.
    """

    def __init__(self, source: ModelSource, precision: Literal["f32", "bf16"], threads: int) -> None:
        self._source = source
        self._precision = precision
        self._threads = threads or core_count()
        self._lock = Lock()
        self._forms: dict[int, Compiled] = {}
        self._narrowly = 0
        """The number of batches passed to `run_many`, of each call at most `FEW` + 1."""
        self._batcher = MicroBatcher(self._run)

    def run_one(self, ids: Ids) -> Vectors:
        """The vector (1, 384) of ids (1, tokens), in one batch with the questions of other threads."""
        return self._batcher(ids)

    def run_many(self, batches: Iterable[tuple[Key, Ids]], done: Callable[[Key, Vectors], None]) -> None:
        """Run (key, ids) batches on all cores; `done(key, vectors)` is called for each, in any order and thread.

        It uses threads that call the engine instead of the engine's own callbacks, which may outlive the last batch and
        abort the process when the interpreter is shutting down.
        """
        source = iter(batches)
        first = list(islice(source, FEW + 1))
        form = self._form_for(len(first))
        source = chain(first, source)
        taking = Lock()

        def work() -> None:
            while True:
                with taking:
                    batch = next(source, None)
                if batch is None:
                    return
                key, ids = batch
                done(key, form.infer(self._source.inputs(ids)))

        with ThreadPoolExecutor(form.streams, thread_name_prefix="embed") as pool:
            for worker in [pool.submit(work) for _ in range(form.streams)]:
                worker.result()

    def _run(self, ids: Ids) -> Vectors:
        """Run in the wide form if it is compiled, otherwise in the narrow one."""
        return (self._forms.get(self._threads) or self._form(1)).infer(self._source.inputs(ids))

    def _form_for(self, batches: int) -> Compiled:
        with self._lock:
            narrow = None if self._threads in self._forms else self._forms.get(1)
            self._narrowly += batches
            if narrow and self._narrowly <= FEW:
                return narrow
        return self._form(self._threads)

    def _form(self, streams: int) -> Compiled:
        with self._lock:
            if streams not in self._forms:
                self._forms[streams] = Compiled(self._source.build(), self._precision, streams)
            return self._forms[streams]
