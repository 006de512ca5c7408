"""Looking a setting up, on the command line before the ini file."""

from __future__ import annotations

import pytest

from pytest_membudget.core.errors import OptionError

_BOOLEANS = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}


class OptionReader:
    """Looks a setting up, on the command line before the ini file, and remembers where it was found."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def text(self, name: str, ini: str | None = None) -> tuple[str, str] | None:
        """Return the value and the place it was written, or None."""
        ini = name if ini is None else ini
        value = self._config.getoption(name, None) if name else None
        if value is not None:
            return str(value), f"--{name.replace('_', '-')}"
        value = self._config.getini(ini) if ini else None
        return None if value in (None, "") else (str(value), f"{ini} in {ini_name(self._config)}")

    def flag(self, name: str, default: bool, ini: str | None = None) -> bool:
        """Return a yes-or-no setting."""
        found = self.text(name, ini)
        if found is None:
            return default
        value, where = found
        if value.lower() not in _BOOLEANS:
            raise OptionError(f"{where}: {value!r} is neither true nor false")
        return _BOOLEANS[value.lower()]


def ini_name(config: pytest.Config) -> str:
    """Return what messages call the ini file."""
    return config.inipath.name if config.inipath else "the ini file"
