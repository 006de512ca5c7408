"""The pages outside the site lead to files that are there; those inside are checked by its strict build."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_lead_somewhere(name: str) -> None:
    """Each relative link is to a file of the checkout."""
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", (CHECKOUT / name).read_text(encoding="utf-8"))

    assert [target for target in targets if not (CHECKOUT / target).exists()] == []
