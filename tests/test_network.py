"""Without a network means without one."""

import os
import socket
import subprocess
import sys

import pytest

import network


def test_nothing_leaves_this_machine(monkeypatch: pytest.MonkeyPatch):
    network.refuse(monkeypatch)
    with socket.socket() as caller, pytest.raises(ConnectionRefusedError, match="refused, 192"):
        caller.connect(("192.0.2.1", 80))
    with socket.socket() as caller, pytest.raises(ConnectionRefusedError, match="refused, 192"):
        caller.connect_ex(("192.0.2.1", 80))


def test_this_machine_is_reached(monkeypatch: pytest.MonkeyPatch):
    network.refuse(monkeypatch)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        socket.create_connection(listener.getsockname()).close()


def test_processes_are_refused_too(monkeypatch: pytest.MonkeyPatch):
    network.refuse(monkeypatch)
    code = "import requests; requests.get('https://192.0.2.1/', timeout=20)"
    run = subprocess.run(
        [sys.executable, "-c", code], env=os.environ, capture_output=True, text=True, check=False
    )
    assert "ProxyError" in run.stderr
