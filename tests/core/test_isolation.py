"""What is said of a process that ended before its test did."""

from __future__ import annotations

import pytest

from pytest_membudget.core.isolation import Ending, TimeLimit, ending_text, last_figure


@pytest.mark.parametrize(
    ("ending", "how"),
    [
        (Ending(-11, 1.0), "was ended by SIGSEGV"),
        (Ending(-9, 1.0), "was ended by SIGKILL, as the system does with a process when memory runs out"),
        (
            Ending(-9, 1.0, out_of_memory_kills=1),
            "was ended by SIGKILL while the system was killing processes because memory had run out",
        ),
        (Ending(-6, 1.0, out_of_memory_kills=1), "was ended by SIGABRT"),
        (Ending(-63, 1.0), "was ended by signal 63"),
        (Ending(0, 1.0), "ended by itself with exit status 0 (os._exit or the like)"),
        (Ending(None, 0.0), "was lost: the process that it was forked from has ended"),
    ],
)
def test_an_ending_in_words(ending: Ending, how: str) -> None:
    """The signal by its name, the exit status by its number, and what the signal is likely to mean."""
    assert ending_text(ending, "call", None) == f"the test's own process {how}, in its call phase"


@pytest.mark.parametrize(
    ("ending", "ends_process", "explained"),
    [
        (Ending(1, 2.5), True, True),
        (Ending(1, 1.5), True, False),
        (Ending(1, 2.5), False, False),
        (Ending(-11, 2.5), True, False),
        (Ending(-9, 5.0, overdue=True), False, True),
    ],
)
def test_a_time_limit_explains_an_ending_that_came_when_time_was_up(
    ending: Ending, ends_process: bool, explained: bool
) -> None:
    """Either pytest-timeout's thread ended the process, with status 1, or whoever waited for it did."""
    text = ending_text(ending, "setup", TimeLimit(2.0, ends_process))

    because = "the test's own process was ended because the test was not over after 2 s (pytest-timeout)"
    assert (text == f"{because}, in its setup phase") is explained


@pytest.mark.parametrize(
    ("peak_bytes", "grown_bytes", "text"),
    [
        (None, None, "no figure is known of its memory"),
        (2**20, None, "the last known figure: its resident set was 1 MiB at most"),
        (2**21, 2**20, "the last known figure: its resident set had grown by 1 MiB"),
    ],
)
def test_the_last_known_figure(peak_bytes: int | None, grown_bytes: int | None, text: str) -> None:
    """The growth where the start is known, else an upper bound, else nothing."""
    assert last_figure(Ending(-9, 1.0, peak_bytes), grown_bytes) == text
