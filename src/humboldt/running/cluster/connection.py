"""Connects to a Ray cluster; fails within seconds with the reason, and never hangs."""

import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

from humboldt.errors import UsageError, named_extras
from humboldt.storage.output import shortened

REACH_SECONDS = 5.0  # for a machine to answer
CONNECT_SECONDS = 20.0  # for its Ray to answer
LOOPBACK = "127.0.0.1"
OBJECT_BYTES = 500_000_000  # object store of a local Ray, for weights and checkpoints; more is put on disk


@dataclass(frozen=True)
class Needs:
    """Resources that an experiment needs."""

    cores: int = 1
    gpus: float = 0

    def fitting(self, resources: dict[str, float]) -> int:
        """Returns the number of such experiments that fit on a machine.

        >>> Needs(2, 0.5).fitting({"CPU": 16, "GPU": 2})
        4
        """
        by_cores = int(resources.get("CPU", 0) // self.cores)
        return by_cores if not self.gpus else min(by_cores, int(resources.get("GPU", 0) / self.gpus + 1e-9))


@contextmanager
def connected(address: str | None, needs: Needs) -> Iterator[Any]:
    """Yields the module `ray`, connected to a cluster with these resources. A local cluster ends with the block."""
    with named_extras():
        import ray
        import ray.exceptions
    is_ours = not ray.is_initialized()
    if is_ours:
        _connect(ray, address or os.environ.get("RAY_ADDRESS") or "local")
    try:
        _check(ray, needs)
        yield ray
    finally:
        if is_ours:
            ray.shutdown()


def slots(ray: Any, needs: Needs) -> int:
    """Returns the number of experiments that fit on the cluster, counting resources in use."""
    return sum(needs.fitting(node["Resources"]) for node in ray.nodes() if node["Alive"])


def _connect(ray: Any, address: str) -> None:
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if address == "local":
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # no usage statistics are sent
        options |= {"include_dashboard": False, "object_store_memory": OBJECT_BYTES}
    elif address != "auto":
        check_reachable(address)
    with _on_loopback(options) if address == "local" else nullcontext():
        failure = _connect_within(
            CONNECT_SECONDS, lambda: ray.init(address=address, **options), starts=address == "local"
        )
    if failure is None:
        return
    text = str(failure)
    if "ersion mismatch" in text:
        raise UsageError(
            f"--ray {address}: {' '.join(text.split())} Use the same versions on all machines."
        ) from failure
    if address == "auto":
        raise UsageError(
            "--ray auto: no Ray runs on this machine. Start one with `ray start --head`, give its address, or leave "
            "the address out: then a local one is started."
        ) from failure
    why = f"no answer within {CONNECT_SECONDS:g} s" if isinstance(failure, TimeoutError) else " ".join(text.split())
    raise UsageError(
        f"--ray {address}: no Ray cluster can be joined there ({why}). Give the address that `ray start --head` "
        "printed, and run this command on a machine of the cluster."
    ) from failure


@contextmanager
def _on_loopback(options: dict[str, Any]) -> Iterator[None]:
    """Makes a local Ray listen on the loopback interface only: Ray has no authentication of its own.

    Ray replaces 127.0.0.1 by an address that other machines can reach, unless that function is replaced.
    """
    from ray._private import services

    options["_node_ip_address"] = LOOPBACK
    resolve = services.resolve_ip_for_localhost
    services.resolve_ip_for_localhost = lambda host: host
    try:
        yield
    finally:
        services.resolve_ip_for_localhost = resolve


def check_address(address: str) -> None:
    """Raises a usage error if this is not the address of a cluster: `HOST:PORT`, `auto` or `local`."""
    if address in ("auto", "local"):
        return
    if "://" in address:
        raise UsageError(
            f"--ray {shortened(address)}: this is not of the form HOST:PORT. Run this command on a machine of the "
            "cluster and give the address that `ray start --head` printed, e.g. --ray 10.0.0.1:6379."
        )
    host, _, port = address.rpartition(":")
    is_port = port.isascii() and port.isdecimal() and len(port) <= 5 and 0 < int(port) < 65536
    if not is_port or not host or not host.isprintable() or " " in host:
        raise UsageError(
            f"--ray {shortened(address)}: this is not of the form HOST:PORT. Write e.g. --ray 10.0.0.1:6379."
        )


def check_reachable(address: str) -> None:
    """Raises a usage error if nothing answers at an address."""
    check_address(address)
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), REACH_SECONDS).close()
    except (OSError, UnicodeError) as error:  # UnicodeError: a name that cannot be that of a host
        raise UsageError(
            f"--ray {shortened(address)}: nothing answers there ({error}). Give the address that `ray start --head` "
            "printed."
        ) from error


def _connect_within(seconds: float, connect: Callable[[], object], *, starts: bool) -> BaseException | None:
    """Connects; returns the error, if any. Restores the signal handlers.

    Ray may wait for minutes for a host that does not run Ray, so it waits in a thread. A local Ray is started in this
    thread: its processes end with the thread that started them.
    """
    failures: list[BaseException] = [TimeoutError()]

    def try_it() -> None:
        try:
            connect()
            failures.clear()
        except BaseException as error:  # Ray also exits
            failures[:] = [error]

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    if starts:
        try_it()
    else:
        thread = threading.Thread(target=try_it, daemon=True)
        thread.start()
        thread.join(seconds)
    if threading.current_thread() is threading.main_thread():
        for number, handler in before.items():
            signal.signal(number, handler)
    return failures[0] if failures else None


def _check(ray: Any, needs: Needs) -> None:
    """Raises a usage error if no machine can run an experiment."""
    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    if any(needs.fitting(resources) for resources in nodes):
        return
    gpus, cores = (max((node.get(kind, 0) for node in nodes), default=0) for kind in ("GPU", "CPU"))
    if gpus < needs.gpus:
        raise UsageError(
            f"--gpus {needs.gpus:g}: no machine of the Ray cluster has that many (maximum: {gpus:g}). Add a machine "
            "with GPUs, or leave --gpus out."
        )
    raise UsageError(
        f"--cores {needs.cores}: no machine of the Ray cluster has that many (maximum: {cores:g}). Ask for fewer."
    )
