import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

import network

settings.register_profile("banditree", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("banditree")


@pytest.fixture(autouse=True, scope="session")
def without_network() -> Iterator[None]:
    """Refuse the network to all tests if BANDITREE_NO_NETWORK is set."""
    with pytest.MonkeyPatch.context() as patch:
        if os.environ.get("BANDITREE_NO_NETWORK"):
            network.refuse(patch)
        yield
