"""Plain letters for the signs that a terminal cannot show."""

import codecs
import sys
import unicodedata

# The name of the error handler, for `str.encode` and for streams.
PLAIN = "banditree.plain"

_LETTERS = {
    "├": "|",
    "│": "|",
    "└": "`",
    "─": "-",
    "≤": "<=",
    "≥": ">=",
    "±": "+-",
    "×": "x",
    "·": ",",
    "…": "...",
    "−": "-",
    "–": "-",
    "—": "-",
    "α": "alpha",
    "λ": "lambda",
    "µ": "u",
    "μ": "u",
    "√": "sqrt ",
    "Σ": "sum ",
    "✓": "yes",
    "✗": "no",
    "◐": "in part",
    "█": "#",
}

# Embeddings, overrides and isolates would reorder the text around a name; the last two are not XML.
_UNWANTED = {*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0xFFFE, 0xFFFF}


def clean(text: str) -> str:
    """Return the text on one line, without what a terminal or an XML parser would trip over."""
    if text.isprintable():
        return text
    spaced = "".join(" " if char.isspace() else char for char in text)
    return "".join(
        char
        for char in spaced
        if unicodedata.category(char) not in ("Cc", "Cs") and ord(char) not in _UNWANTED
    )


def for_terminal(text: str) -> str:
    """Return a text so that `print` can show it, whatever the encoding of the standard output."""
    encoding = getattr(sys.stdout, "encoding", None)
    if encoding is None or text.isascii():
        return text
    try:
        return text.encode(encoding, PLAIN).decode(encoding)
    except LookupError:  # a stream of somebody's own, with an encoding of its own
        return text


def make_streams_plain() -> None:
    """Let the standard output and error show plain letters where their encoding has no others."""
    for stream in (sys.stdout, sys.stderr):
        encoding = getattr(stream, "encoding", None) or "utf-8"
        if hasattr(stream, "reconfigure") and not encoding.lower().startswith("utf"):
            stream.reconfigure(errors=PLAIN)


def _plain_letters(error: UnicodeError) -> tuple[str, int]:
    """Replace what cannot be encoded: signs by letters, anything else by its escape."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    wrong = error.object[error.start : error.end]
    escaped = (
        _LETTERS.get(sign) or sign.encode("ascii", "backslashreplace").decode() for sign in wrong
    )
    return "".join(escaped), error.end


codecs.register_error(PLAIN, _plain_letters)
