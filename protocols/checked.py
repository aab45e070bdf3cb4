"""Reading values of a protocol file, each with its place (`$.split.ratios.train`) in every complaint."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, cast

from ..errors import Problems, unknown

__all__ = ["Section"]


class Section:
    """One mapping of the file, read key by key; what is wrong is noted and a harmless value given back.

    Parameters
    ----------
    value : object
        What the file holds at `place`; anything but a mapping is noted.
    place : str
        ``$`` for the file itself, ``$.split`` for a section.
    problems : Problems
        Where complaints go.
    """

    def __init__(self, value: object, place: str, problems: Problems) -> None:
        self.place = place
        self.problems = problems
        self._seen: list[str] = []
        if value is None:
            value = {}
        if not isinstance(value, Mapping):
            problems.add(place, f"{value!r} is not a mapping of keys to values")
            value = {}
        self._values = {str(key): item for key, item in cast("Mapping[Any, Any]", value).items()}

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def take(self, key: str) -> Any:
        """Return the raw value of a key, None where absent; the key counts as known."""
        self._seen.append(key)
        return self._values.get(key)

    def at(self, key: str) -> str:
        """Return the place of a key."""
        return f"{self.place}.{key}"

    def complain(self, key: str, message: str, *, hint: str | None = None) -> None:
        """Note what is wrong with a key's value."""
        self.problems.add(self.at(key), message, hint=hint)

    def section(self, key: str) -> Section:
        """Return the section under a key; empty where absent."""
        return Section(self.take(key), self.at(key), self.problems)

    def text(self, key: str, *, default: str = "", pattern: str | None = None, like: str = "") -> str:
        """Return a text, which must match `pattern` (described by `like`)."""
        value = self.take(key)
        if value is None and (default or pattern is None):
            return default
        if not isinstance(value, str):
            self.complain(key, f"{value!r} is not a text", hint=f"write it in quotes, like {like!r}" if like else None)
            return default
        if pattern is not None and not re.fullmatch(pattern, value):
            self.complain(key, f"{value!r} is not of the wanted form", hint=f"write it like {like!r}")
        return value

    def choice(self, key: str, options: Sequence[str], default: str) -> str:
        """Return one of `options`."""
        value = self.take(key)
        if value is None:
            return default
        if value not in options:
            message, hint = unknown("value", str(value), options)
            self.complain(key, message, hint=hint)
            return default
        return value

    def flag(self, key: str, *, default: bool) -> bool:
        """Return true or false."""
        value = self.take(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            self.complain(key, f"{value!r} is neither true nor false")
            return default
        return value

    def integer(self, key: str, *, least: int, default: int | None = None) -> int | None:
        """Return an integer of at least `least`."""
        value = self.take(key)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int):
            self.complain(key, f"{value!r} is not an integer")
            return default
        if value < least:
            self.complain(key, f"{value} is below {least}")
            return default
        return value

    def number(self, key: str) -> Decimal | None:
        """Return a decimal number, taken from the text that the file holds."""
        value = self.take(key)
        return None if value is None else self.decimal(key, value)

    def decimal(self, key: str, value: object) -> Decimal | None:
        """Return a value as a decimal number, or note that it is none."""
        try:
            if isinstance(value, bool):
                raise InvalidOperation
            number = Decimal(str(value))
        except InvalidOperation:
            number = Decimal("nan")
        if not number.is_finite():
            self.complain(key, f"{value!r} is not a number")
            return None
        return number

    def names(self, key: str, default: Sequence[str] = ()) -> tuple[str, ...]:
        """Return a list of names, each once."""
        value = self.take(key)
        if value is None:
            return tuple(default)
        if isinstance(value, str) or not isinstance(value, Sequence):
            self.complain(key, f"{value!r} is not a list", hint="write it like [age, gender]")
            return tuple(default)
        found: list[str] = []
        for place, name in enumerate(cast("Sequence[object]", value)):
            if not isinstance(name, str) or not name:
                self.problems.add(f"{self.at(key)}[{place}]", f"{name!r} is not a name")
            elif name in found:
                self.problems.add(f"{self.at(key)}[{place}]", f"{name!r} stands twice")
            else:
                found.append(name)
        return tuple(found)

    def every_key(self) -> tuple[str, ...]:
        """Return the keys in the file's order; all count as known."""
        self._seen.extend(self._values)
        return tuple(self._values)

    def end(self) -> None:
        """Note every key that nobody asked for, except those that begin with ``x-``."""
        for key in self._values:
            if key not in self._seen and not key.startswith("x-"):
                message, hint = unknown("key", key, list(dict.fromkeys(self._seen)))
                self.problems.add(self.at(key), message, hint=hint)
