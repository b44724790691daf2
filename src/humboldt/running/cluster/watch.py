"""Notices within a second that a process of Ray has ended. Ray itself waits a minute, and then ends the driver."""

import socket
import time
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

RENEW_SECONDS = 30.0  # gRPC closes connections that stay silent for two minutes
CONNECT_SECONDS = 5.0
HEAD, SCHEDULER = "the head of the cluster", "the scheduler of this machine (raylet)"


class Watch:
    """Holds a connection to the head of the cluster and one to Ray's scheduler on this machine, and sends nothing.

    The system closes the connections of a process that ends, even if another one takes its place at once. Of a Ray
    that this process has started, the processes themselves are watched, too.
    """

    def __init__(self, ray: Any) -> None:
        from ray._private import worker

        self._node = worker._global_node
        host, _, port = str(ray.get_runtime_context().gcs_address).rpartition(":")
        self._places: dict[str, tuple[str, int] | str] = {HEAD: (host.strip("[]"), int(port))}
        if path := getattr(self._node, "raylet_socket_name", None):
            self._places[SCHEDULER] = path
        self._links: dict[str, tuple[socket.socket, float]] = {}
        for name in self._places:
            self._renew(name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for link, _ in self._links.values():
            link.close()

    def ended(self) -> str | None:
        """Returns the name of a process that has ended; `None` if all are running."""
        processes = {} if self._node is None else self._node.all_processes
        for kind, infos in processes.items():
            if any(info.process.poll() is not None for info in infos):
                return f"the process {kind}"
        for name, (link, since) in list(self._links.items()):
            if _is_closed(link):
                return name
            if time.monotonic() - since > RENEW_SECONDS and not self._renew(name):
                return name
        return None

    def _renew(self, name: str) -> bool:
        """Replaces a connection; returns whether that was possible. One that was never possible is not watched."""
        place = self._places[name]
        try:
            if isinstance(place, str):
                link = socket.socket(socket.AF_UNIX)
                link.settimeout(CONNECT_SECONDS)
                link.connect(place)
            else:
                link = socket.create_connection(place, CONNECT_SECONDS)
        except OSError:
            return False
        link.setblocking(False)
        if name in self._links:
            self._links[name][0].close()
        self._links[name] = link, time.monotonic()
        return True


def _is_closed(link: socket.socket) -> bool:
    """Returns whether the other side has closed a connection. Reads what it has sent."""
    with suppress(BlockingIOError):
        try:
            while link.recv(65536):
                pass
        except ConnectionError:
            pass
        return True
    return False
