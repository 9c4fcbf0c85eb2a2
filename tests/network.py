"""A network that refuses everything but this machine itself."""

import socket
from typing import Any

import pytest

# A proxy that nobody runs, for the processes that tests start.
NOWHERE = "http://127.0.0.1:9"
VARIABLES = {
    "http_proxy": NOWHERE,
    "https_proxy": NOWHERE,
    "no_proxy": "127.0.0.1,localhost",
}


def refuse(patch: pytest.MonkeyPatch) -> None:
    """Let no connection leave this machine until the patch is undone."""
    for name, value in VARIABLES.items():
        patch.setenv(name, value)
        patch.setenv(name.upper(), value)
    for name in ("connect", "connect_ex"):
        patch.setattr(socket.socket, name, _only_here(getattr(socket.socket, name)))


def _only_here(connect: Any) -> Any:
    def guarded(self: socket.socket, address: Any) -> Any:
        is_internet = self.family in (socket.AF_INET, socket.AF_INET6)
        if is_internet and address[0] not in ("127.0.0.1", "::1", "localhost"):
            raise ConnectionRefusedError(f"the network is refused, {address[0]} as well")
        return connect(self, address)

    return guarded
