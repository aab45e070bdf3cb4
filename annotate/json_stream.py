"""Reading a large JSON array one element at a time.

An export of some tens of megabytes needs ten times its size when it is parsed whole; here only one element and one
piece of the text are held.
"""

from __future__ import annotations

import codecs
import gzip
import json
import re
from collections.abc import Callable, Generator
from pathlib import Path
from typing import IO, Any

from ..errors import VotesError

__all__ = ["iterate_array"]

_PIECE = 1 << 20
_GAP = re.compile(r"[\s,]*")


class _Text:
    """The part of a file's text that has been read and not yet used."""

    def __init__(self, path: Path, stream: IO[bytes]) -> None:
        self._path = path
        self._stream = stream
        self._decode: Callable[..., str] = codecs.getincrementaldecoder("utf-8")("surrogatepass").decode
        self.text = ""
        self.read = 0
        self.ended = False

    def more(self) -> None:
        """Read another piece, as long as what is waiting so that a long element is parsed a few times only."""
        try:
            piece = self._stream.read(max(_PIECE, len(self.text)))
        except (OSError, EOFError) as error:
            raise VotesError(f"{self._path} cannot be read: {error}", hint="fetch the export again") from error
        if self.read == 0:
            if piece.startswith((b"\xff\xfe", b"\xfe\xff")):
                raise VotesError(f"{self._path} is UTF-16 text, and UTF-8 is wanted", hint="save it as UTF-8")
            piece = piece.removeprefix(b"\xef\xbb\xbf")
        self.read += len(piece)
        self.ended = not piece
        try:
            self.text += self._decode(piece, self.ended)
        except UnicodeDecodeError as error:
            raise VotesError(
                f"{self._path} is not UTF-8 text before byte {self.read:,}: {error.reason}",
                hint="fetch the export again",
            ) from None


def _open(path: Path) -> Any:
    try:
        return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")
    except FileNotFoundError:
        raise VotesError(f"{path}: there is no such file", hint="check the path") from None
    except OSError as error:
        raise VotesError(f"{path} cannot be read: {error.strerror}") from None


def iterate_array(path: Path) -> Generator[tuple[int, Any]]:
    """Yield the elements of a JSON array with their places; a single object stands for itself.

    Parameters
    ----------
    path : pathlib.Path
        UTF-8 with or without a byte order mark; may end in ``.gz``.

    Yields
    ------
    place, element : int, Any
        From 0.

    Raises
    ------
    VotesError
        If the file is absent, empty, truncated, or no JSON.
    """
    with _open(path) as stream:
        waiting = _Text(path, stream)
        while not waiting.text.strip() and not waiting.ended:
            waiting.more()
        waiting.text = waiting.text.lstrip()
        if not waiting.text:
            raise VotesError(f"{path} is empty", hint="check that the export was written and copied whole")
        if waiting.text[0] not in "[{":
            raise VotesError(
                f"{path} is not JSON: it begins with {waiting.text[:20]!r}",
                hint="a Label Studio export begins with '['; a table wants an ending such as .csv",
            )
        array = waiting.text[0] == "["
        if array:
            waiting.text = waiting.text[1:]
        yield from _elements(path, waiting, array=array)


def _elements(path: Path, waiting: _Text, *, array: bool) -> Generator[tuple[int, Any]]:
    """Yield elements until the closing bracket (or the one object that stands alone)."""
    decode = json.JSONDecoder(strict=False).raw_decode
    place, at, closed = 0, 0, False
    while not closed:
        text = waiting.text
        gap = _GAP.match(text, at)
        at = gap.end() if gap else at
        if at < len(text) and text[at] == "]":
            closed = True
            continue
        try:
            element, at = decode(text, at)
        except json.JSONDecodeError as error:
            if waiting.ended:
                raise _broken(path, waiting, place, error) from None
            waiting.text, at = text[at:], 0
            waiting.more()
            continue
        yield place, element
        place += 1
        closed = not array


def _broken(path: Path, waiting: _Text, place: int, error: json.JSONDecodeError) -> VotesError:
    """Say whether the file ends too early or is wrong in the middle."""
    if error.pos >= len(waiting.text.rstrip()) - 1 or error.msg.startswith("Unterminated"):
        return VotesError(
            f"{path}: $[{place}]: the file ends in the middle (after {waiting.read:,} bytes)",
            hint="the export was cut off: fetch it again",
        )
    return VotesError(
        f"{path}: $[{place}]: is not JSON ({error.msg})", hint="fetch the export again, and do not edit it by hand"
    )
