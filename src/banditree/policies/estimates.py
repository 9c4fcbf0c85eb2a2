"""Random streams of estimates: apart from those of decisions."""

from hashlib import blake2b

from banditree import _core
from banditree.types import FloatArray


def stream_for(random: _core.Generator, n: int, row: FloatArray) -> _core.Generator:
    """Return the stream for what n observations say of a row.

    Equal beliefs and equal rows agree. Other ones get other draws, so that the errors of estimates
    are not the same in every call.
    """
    # Adding 0 turns -0 into 0, which is the same number.
    digest = blake2b((row + 0.0).astype("<f8").tobytes(), digest_size=8).digest()
    return random.child(n).child(int.from_bytes(digest, "little"))
