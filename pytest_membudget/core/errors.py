"""The errors that reach a user, each with the sentence to show."""

from __future__ import annotations


class MembudgetError(Exception):
    """Something the user wrote cannot be used; the message says what, where and what to do instead."""


class SizeError(MembudgetError):
    """A size that is neither bytes, nor a string with a unit, nor a percentage."""


class MarkerError(MembudgetError):
    """A marker whose arguments cannot be read."""


class OptionError(MembudgetError):
    """A command-line option or ini key whose value cannot be used."""


class BaselineError(MembudgetError):
    """A baseline or a run's file that cannot be used."""


class NotMeasuredError(MembudgetError):
    """A figure was asked for that this process could not measure."""
