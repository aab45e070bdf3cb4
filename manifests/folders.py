"""Output folders: written beside, moved into place, and never half there.

A folder is filled under a name of its own (``.NAME.….partial``) and renamed when it is whole. Where it takes the
place of another one, that one is renamed to ``NAME.bak`` first and removed last, and ``.NAME.replacing`` says so in
between: a run that is killed leaves the former folder, the new one, or the former one as ``NAME.bak``.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType

from ..digests import digest_bytes, digest_file
from ..errors import InputError, listing

try:
    import fcntl as _fcntl
except ImportError:  # Windows has no advisory locks of this kind: leftovers are then named and stay
    _locks: ModuleType | None = None
else:
    _locks = _fcntl

__all__ = ["AUTHORITY", "fill_folder", "refuse_folder"]

AUTHORITY = "manifest.json"
"""The file by which a folder is known for a manifest."""

_OURS = {
    AUTHORITY,
    "README.md",
    ".gitattributes",
    "assignments.csv",
    "assignments.parquet",
    "croissant.json",
    "citation.bib",
    "SHA256SUMS",
    "report.html",
    "report.json",
}
"""What a run writes, and `--force` may therefore replace."""


def _backup(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.bak")


def _marker(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.replacing")


def _partials(folder: Path) -> list[Path]:
    if not folder.parent.is_dir():
        return []
    begin, end = f".{folder.name}.", ".partial"
    return sorted(path for path in folder.parent.iterdir() if path.name.startswith(begin) and path.name.endswith(end))


def _absolute(folder: Path) -> Path:
    """Return the folder's absolute path, its parents resolved; the folder itself may be a link, which is refused."""
    folder = Path(os.path.abspath(folder.expanduser()))
    return folder.parent.resolve() / folder.name


def refuse_folder(folder: Path, *, force: bool = False) -> tuple[str, ...]:
    """Refuse an output folder that exists or cannot be written, before any work is done.

    What an earlier run left when it was killed is put in order first.

    Parameters
    ----------
    folder : pathlib.Path
        Where a manifest is to be written.
    force : bool
        Accept a folder that holds a manifest and nothing else.

    Returns
    -------
    notes : tuple of str
        What an interrupted run had left, and where that stands now.

    Raises
    ------
    InputError
        If the folder exists and `force` is not set, or holds what is not ours; if its place cannot be written.
    """
    place = _absolute(folder)
    _writable(place, folder)
    notes = _recovered(place, folder)
    if place.is_symlink() or place.exists():
        if not force:
            said = "; ".join((f"{folder} exists already", *notes))
            raise InputError(said, hint="add --force to replace it, or choose another --out")
        _replaceable(place, folder)
    return notes


def _writable(place: Path, shown: Path) -> None:
    if not place.name:
        raise InputError(f"{shown} is no place for a manifest", hint="name a folder of its own with --out")
    parent = place.parent
    while not parent.exists() and not parent.is_symlink():
        parent = parent.parent
    if not parent.is_dir():
        raise InputError(f"{shown} cannot be written: {parent.name} is a file", hint="choose another place with --out")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise InputError(
            f"{shown} cannot be written: no permission in {parent}", hint="choose another place with --out"
        )


def _replaceable(place: Path, shown: Path) -> None:
    """Refuse to replace what is no manifest: a folder may hold somebody's work."""
    if place.is_symlink() or not place.is_dir():
        kind = "a link" if place.is_symlink() else "a file"
        raise InputError(f"{shown} is {kind}, which --force does not replace", hint="choose another --out")
    foreign = sorted(path.name for path in place.iterdir() if not _ours(path, place))
    if foreign:
        raise InputError(
            f"{shown} holds what protoctl did not write, so --force does not replace it: {listing(foreign, most=5)}",
            hint="move those files away, or choose another --out",
        )
    backup = _backup(place)
    if backup.exists() or backup.is_symlink():
        raise InputError(
            f"{backup.name} exists, and {shown.name} would be kept there while it is replaced",
            hint=f"move {backup.name} away, or remove it",
        )


def _ours(path: Path, folder: Path) -> bool:
    known = path.name in _OURS or (path.suffix == ".csv" and (folder / "croissant.json").is_file())
    return known and path.is_file() and not path.is_symlink()


def _recovered(place: Path, shown: Path) -> tuple[str, ...]:
    """Put in order what a killed run left beside the folder, and say what that was."""
    notes: list[str] = []
    for partial in _partials(place):
        with _locked(partial) as held:
            if not held:
                raise InputError(f"another run is writing {shown} now", hint="wait until it has ended")
            if _locks is None:
                notes.append(f"{partial.name} is left from an interrupted run, and may be removed")
            else:
                shutil.rmtree(partial, ignore_errors=True)
                state = "as it was" if place.exists() else "absent"
                notes.append(f"an earlier run was interrupted while it wrote: its rest is removed, {shown} is {state}")
    marker, backup = _marker(place), _backup(place)
    if not marker.exists():
        return tuple(notes)
    if not place.exists() and backup.is_dir():
        os.replace(backup, place)
        notes = [f"an earlier run was interrupted: the former one was in {backup.name}, and is in {shown} again"]
    elif place.exists():
        new = _state(place) == marker.read_text("ascii")
        which = "the new" if new else "the former"
        notes = [f"an earlier run was interrupted while it replaced {shown}, which holds {which} one, whole"]
        if new and backup.is_dir():
            _removed(backup)
            notes.append(f"{backup.name}, the former one, is removed")
    marker.unlink(missing_ok=True)
    return tuple(notes)


@contextmanager
def _locked(folder: Path) -> Generator[bool]:
    """Hold a lock on a folder; give False where another process holds it. The lock dies with its process."""
    if _locks is None:
        yield True
        return
    try:
        handle = os.open(folder, os.O_RDONLY)
    except FileNotFoundError:
        yield True
        return
    try:
        try:
            _locks.flock(handle, _locks.LOCK_EX | _locks.LOCK_NB)
        except OSError:
            yield False
        else:
            yield True
    finally:
        os.close(handle)


def _removed(folder: Path) -> None:
    """Remove a folder so that no half of it is ever seen under its own name."""
    aside = Path(tempfile.mkdtemp(prefix=f".{folder.name.removesuffix('.bak')}.", suffix=".partial", dir=folder.parent))
    os.replace(folder, aside / folder.name)
    shutil.rmtree(aside, ignore_errors=True)


def fill_folder(folder: Path, fill: Callable[[Path], None], *, force: bool = False) -> tuple[str, ...]:
    """Make a folder whole or not at all.

    Parameters
    ----------
    folder : pathlib.Path
        Where it is to be.
    fill : callable
        Writes the files into the folder whose path it is given.
    force : bool
        Replace a manifest that is there.

    Returns
    -------
    notes : tuple of str
        See `refuse_folder`.

    Raises
    ------
    InputError
        As `refuse_folder`; or if the disk is full or refuses to be written. Nothing is left behind then.
    """
    notes = refuse_folder(folder, force=force)
    place = _absolute(folder)
    made = _parents(place)
    try:
        partial = Path(tempfile.mkdtemp(prefix=f".{place.name}.", suffix=".partial", dir=place.parent))
        try:
            with _locked(partial):
                fill(partial)
                partial.chmod(0o777 & ~_umask())
                _moved(partial, place)
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise
    except OSError as error:
        _unmade(made)
        raise InputError(
            f"{folder} cannot be written: {error.strerror or error}", hint="choose another place with --out"
        ) from error
    except BaseException:
        _unmade(made)
        raise
    return notes


def _moved(partial: Path, place: Path) -> None:
    """Rename the filled folder to its place, past a former one where there is one."""
    if not place.exists():
        os.rename(partial, place)
        return
    marker, backup = _marker(place), _backup(place)
    try:
        marker.write_text(_state(partial), "ascii")
        os.rename(place, backup)
        os.rename(partial, place)
    except BaseException:
        if not place.exists() and backup.exists():
            os.rename(backup, place)
        marker.unlink(missing_ok=True)
        raise
    _removed(backup)
    marker.unlink(missing_ok=True)


def _state(folder: Path) -> str:
    """Return a digest of the names and bytes of a folder's files."""
    files = sorted(path for path in folder.iterdir() if path.is_file())
    return digest_bytes("".join(f"{digest_file(path)}  {path.name}\n" for path in files).encode())


def _parents(place: Path) -> list[Path]:
    """Make the folders above, and return those that were not there, innermost first."""
    absent: list[Path] = []
    parent = place.parent
    while not parent.exists():
        absent.append(parent)
        parent = parent.parent
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        _unmade(absent)
        raise InputError(f"{place.parent} cannot be made: {error.strerror}", hint="choose another --out") from error
    return absent


def _unmade(folders: list[Path]) -> None:
    for folder in folders:
        with suppress(OSError):
            folder.rmdir()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
