"""What of the line-up is installed here, in which version, and why some is not."""

import json
import sys
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from peers.lineup import ENTRIES, OWN
from peers.player import Entry

NOT_INSTALLED = Path(sys.prefix) / "not-installed.json"  # which install.py has written
HOW = "make bench-peers installs it"


def absent() -> dict[str, str]:
    """Return the libraries that are not here, and why."""
    told = json.loads(NOT_INSTALLED.read_text()) if NOT_INSTALLED.exists() else {}
    modules = {entry.library: entry.module for entry in ENTRIES.values()}
    return {
        library: told.get(library, f"not installed in this environment; {HOW}")
        for library, module in modules.items()
        if find_spec(module) is None
    }


def version_of(entry: Entry) -> str:
    """Return the library and its version; of this one, with a fingerprint of its code."""
    if entry.library != OWN:
        return f"{entry.library} {version(entry.library)}"
    from banditree.studies.code import build_name

    return f"{OWN} {build_name()}"
