"""One fixed run through every writer, compared with files that were looked at."""

from __future__ import annotations

import pytest

from tests.reports.gold_files import FOLDER, WRITERS
from tests.reports.sample_run import SAMPLE


@pytest.mark.parametrize("name", WRITERS)
def test_output_is_as_it_was_last_looked_at(name: str) -> None:
    """Whoever changes an output on purpose runs ``python -m tests.reports.gold_files`` and looks at the difference."""
    expected = (FOLDER / name).read_text(encoding="utf-8")

    assert expected == WRITERS[name](SAMPLE)
