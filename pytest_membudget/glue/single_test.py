"""What a fresh interpreter is told that was started for a single test."""

from __future__ import annotations

import os
from dataclasses import dataclass

import pytest

VARIABLE = "PYTEST_MEMBUDGET_SINGLE_TEST"


@dataclass(frozen=True)
class SingleTest:
    """The test, the file that the waiting process reads, a folder for others, and why it does not run the test itself.

    All are JSON's own types.
    """

    path: str
    nodeid: str
    outbox: str
    folder: str
    reason: str
    worker: str | None


SINGLE_TEST = pytest.StashKey[SingleTest]()


def read_single_test(config: pytest.Config) -> SingleTest | None:
    """Note in the config what this interpreter was started for, if it was; a process that it starts is told nothing."""
    told = os.environ.pop(VARIABLE, None)
    if told is None:
        return None
    import json

    config.stash[SINGLE_TEST] = SingleTest(**json.loads(told))
    return config.stash[SINGLE_TEST]
