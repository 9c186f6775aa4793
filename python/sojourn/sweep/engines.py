"""Engines: threads of this process, Dask, or Ray, on a running cluster or on a local one.

Dask and Ray run batches of cells in processes that have the same build of Sojourn; records come back in any
order, and the store puts them into its own. So each engine gives the same table.
"""

from __future__ import annotations

import importlib
import itertools
import pickle
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

from sojourn import _core
from sojourn.errors import InputError, MissingError, SojournError
from sojourn.kinds import shown
from sojourn.simulate.pool import POLL_S, interrupts_noted
from sojourn.sweep import local
from sojourn.sweep.cells import Cell, Setting

__all__ = ["ENGINES", "Engine", "check", "work"]

#: Engines.
ENGINES = ("local", "dask", "ray")
#: Wall time of a batch, s, and its cells at most.
_BATCH_S, _MOST = 0.5, 256
#: Batches at once for each worker.
_AHEAD = 2
#: Longest start of a local cluster, s.
_START_S = 120

#: Cells of one batch, with their settings.
Batch = list[tuple[Setting, list[Cell]]]


#: Packages of each engine.
_PACKAGES = {"dask": ("cloudpickle", "dask", "distributed"), "ray": ("ray", "ray.cloudpickle")}


def check(engine: str, cluster: str | None) -> None:
    """Raise `InputError` for an unknown engine, or a cluster of the threads of this process."""
    if engine not in ENGINES:
        raise InputError(f"engine: {shown(engine)} is unknown; expected {', '.join(ENGINES)}")
    if cluster is not None and engine == "local":
        raise InputError("cluster: belongs to the engines dask and ray; expected engine with it")
    if cluster is not None and (not isinstance(cluster, str) or not cluster.strip()):
        raise InputError(f"cluster: {shown(cluster)} is no address; expected such as tcp://head:8786")


class Cluster(Protocol):
    """Processes that run batches."""

    #: Name of the engine.
    name: str
    #: Number of batches that run at once.
    workers: int

    def submit(self, data: bytes) -> Any:
        """Begin a batch; returns its handle."""

    def finished(self, handles: Sequence[Any], timeout: float) -> list[Any]:
        """Handles of batches that have ended, after one has, or after `timeout`, s."""

    def result(self, handle: Any) -> bytes:
        """Result of a batch that has ended; raises its exception."""

    def dumps(self, value: tuple[str, Batch]) -> bytes:
        """A value as bytes, with classes of files of the user."""


@dataclass
class Engine:
    """Runs cells, on processes that begin with the first of them; closed by `close`."""

    name: str
    cluster: str | None
    jobs: int
    _open: ExitStack = field(default_factory=ExitStack)
    _running: Cluster | None = None

    def drive(self, cells: Iterator[Cell], make: local.Maker, left: int, sink: local.Sink) -> bool:
        """Run `left` cells; returns True after an interrupt.

        Raises `MissingError` without the engine's package, and `SojournError` where its processes fail.
        """
        if self.name == "local":
            return local.drive(cells, make, min(self.jobs, left), sink)
        if self._running is None:
            self._running = (_dask if self.name == "dask" else _ray)(self.cluster, self.jobs, self._open)
        return _drive(self._running, cells, make, sink)

    def require(self) -> None:
        """Raise `MissingError` without the engine's package."""
        if self.name != "local":
            _imported(self.name, *_PACKAGES[self.name])

    def close(self) -> None:
        """End what was begun."""
        self._open.close()


def _drive(on: Cluster, cells: Iterator[Cell], make: local.Maker, sink: local.Sink) -> bool:
    """Run cells in batches, each as long as the last ones let expect a good length to be."""
    awaited: list[Any] = []
    pace, is_empty = _Pace(), False
    with interrupts_noted() as interrupts:
        try:
            while not interrupts.number and not (is_empty and not awaited):
                while not is_empty and len(awaited) < _AHEAD * on.workers:
                    batch = _batch(cells, make, pace.size)
                    is_empty = not batch
                    if batch:
                        awaited.append(on.submit(on.dumps((_core.__build__, batch))))
                for handle in on.finished(awaited, POLL_S):
                    awaited.remove(handle)
                    wall, records = pickle.loads(on.result(handle))
                    pace.add(wall, len(records))
                    for record in records:
                        sink(record)
        except SojournError:
            raise
        except Exception as error:
            line = " ".join(str(error).split()) or type(error).__name__
            raise SojournError(f"{on.name} failed: {line}; finished cells are kept") from error
    return interrupts.number > 0


@dataclass
class _Pace:
    """Number of cells of the next batch."""

    size: int = 1
    #: Wall time of a cell, s, the mean of the last with weights of 1/2, 1/4 and so on; None: not yet known.
    cell_s: float | None = None

    def add(self, wall: float, cells: int) -> None:
        """A batch has ended: the next one is as long as its cells allow, at most twice as many."""
        if not cells:
            return
        found = wall / cells
        self.cell_s = found if self.cell_s is None else (self.cell_s + found) / 2
        wanted = _MOST if self.cell_s * _MOST <= _BATCH_S else int(_BATCH_S / self.cell_s)
        self.size = max(1, min(_MOST, 2 * self.size, wanted))


def _batch(cells: Iterator[Cell], make: local.Maker, size: int) -> Batch:
    """The next cells; seeds of a point share its setting."""
    taken = itertools.islice(cells, size)
    return [
        (make(own[0]), own)
        for own in (list(group) for _, group in itertools.groupby(taken, lambda cell: cell.place))
    ]


def work(data: bytes) -> bytes:
    """Run a batch in this process; wall time and records. Raises `SojournError` for another build."""
    started = time.monotonic()
    build, batch = pickle.loads(data)
    if build != _core.__build__:
        raise SojournError(
            "a worker has another build of Sojourn; expected that of the process which runs the sweep"
        )
    crew = local.Crew(iter(()), _no_maker)
    found = [crew.run(cell, setting) for setting, cells in batch for cell in cells]
    return pickle.dumps((time.monotonic() - started, [one for one in found if one is not None]))


def _no_maker(_: Cell) -> Setting:
    raise AssertionError("a batch has its settings")


def _dumps(pickler: Any, value: tuple[str, Batch]) -> bytes:
    """Pickled by cloudpickle, with the classes of laws and controls in files by value."""
    modules = {name for setting, _ in value[1] for name in _modules(setting)}
    named = [sys.modules[name] for name in modules if name in sys.modules and not _is_installed(name)]
    for module in named:
        pickler.register_pickle_by_value(module)
    try:
        found: bytes = pickler.dumps(value)
        return found
    finally:
        for module in named:
            pickler.unregister_pickle_by_value(module)


def _modules(setting: Setting) -> Iterator[str]:
    """Modules of the classes of laws and controls in Python."""
    if setting.setup is None:
        return
    for template in (setting.setup.law, *(one for _, one in setting.setup.scenario.custom_ccs)):
        if template is not None:
            yield type(template.original).__module__


def _is_installed(name: str) -> bool:
    """True for modules that workers have, too."""
    return name.partition(".")[0] == "sojourn" or name in sys.builtin_module_names


# ---- Dask -----------------------------------------------------------------------------------------------


@dataclass
class _Dask:
    client: Any
    wait: Callable[..., Any]
    pickler: Any
    workers: int
    name: str = "dask"

    def submit(self, data: bytes) -> Any:
        return self.client.submit(work, data, pure=False)

    def finished(self, handles: Sequence[Any], timeout: float) -> list[Any]:
        with suppress(TimeoutError):
            self.wait(handles, timeout=timeout, return_when="FIRST_COMPLETED")
        return [one for one in handles if one.done()]

    def result(self, handle: Any) -> bytes:
        found: bytes = handle.result()
        return found

    def dumps(self, value: tuple[str, Batch]) -> bytes:
        return _dumps(self.pickler, value)


def _dask(address: str | None, jobs: int, closing: ExitStack) -> Cluster:
    """A running Dask cluster, or one of `jobs` processes."""
    cloudpickle, dask, distributed = _imported("dask", *_PACKAGES["dask"])
    closing.enter_context(dask.config.set({"distributed.logging.distributed": "error"}))
    try:
        if address is None:
            cluster = distributed.LocalCluster(
                n_workers=jobs, threads_per_worker=1, dashboard_address=None, silence_logs=50
            )
            closing.enter_context(cluster)
            client = closing.enter_context(distributed.Client(cluster, timeout=_START_S))
        else:
            client = closing.enter_context(distributed.Client(address, timeout=10))
        client.wait_for_workers(1, timeout=_START_S)
    except (OSError, ValueError, TimeoutError) as error:
        raise _unreachable("dask", address, error) from None
    workers = sum(client.nthreads().values())
    return _Dask(client, distributed.wait, cloudpickle, workers)


# ---- Ray ------------------------------------------------------------------------------------------------


@dataclass
class _Ray:
    ray: Any
    remote: Any
    pickler: Any
    workers: int
    name: str = "ray"

    def submit(self, data: bytes) -> Any:
        return self.remote.remote(data)

    def finished(self, handles: Sequence[Any], timeout: float) -> list[Any]:
        ready, _ = self.ray.wait(list(handles), num_returns=1, timeout=timeout)
        return list(ready)

    def result(self, handle: Any) -> bytes:
        try:
            found: bytes = self.ray.get(handle)
        except self.ray.exceptions.RayTaskError as error:
            raise error.cause from None
        return found

    def dumps(self, value: tuple[str, Batch]) -> bytes:
        return _dumps(self.pickler, value)


def _ray(address: str | None, jobs: int, closing: ExitStack) -> Cluster:
    """A running Ray cluster, or one of `jobs` processes."""
    ray, cloudpickle = _imported("ray", *_PACKAGES["ray"])
    if address is not None:
        _reach(address)
    own = {"num_cpus": jobs, "include_dashboard": False} if address is None else {}
    try:
        ray.init(address or "local", log_to_driver=False, logging_level="error", **own)
    except (OSError, ValueError, RuntimeError) as error:
        raise _unreachable("ray", address, error) from None
    closing.callback(ray.shutdown)
    workers = max(1, int(ray.cluster_resources().get("CPU", 1)))
    return _Ray(ray, ray.remote(max_retries=3)(work), cloudpickle, workers)


def _reach(address: str) -> None:
    """Raise `InputError` where nothing listens at an address such as ``head:6379``: Ray tries for minutes."""
    host, _, port = address.rpartition("//")[2].rpartition(":")
    if not host or not port.isdecimal():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()
    except (OSError, OverflowError) as error:
        raise _unreachable("ray", address, error) from None


def _imported(engine: str, *names: str) -> list[Any]:
    try:
        return [importlib.import_module(name) for name in names]
    except ImportError:
        raise MissingError(
            f"sojourn sweep: {engine} is not installed; pip install sojourn[{engine}]"
        ) from None


def _unreachable(engine: str, address: str | None, error: Exception) -> SojournError:
    line = " ".join(str(error).split())[:200] or type(error).__name__
    if address is None:
        return SojournError(f"{engine} does not start here ({line})")
    return InputError(
        f"cluster: {address} does not answer ({line}); expected the address of a {engine} cluster"
    )
