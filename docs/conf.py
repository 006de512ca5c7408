"""How the documentation is built; see CONTRIBUTING.md for what a page must do."""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "scripts"))

import json_tables  # noqa: E402  # found through the line above
import options_table  # noqa: E402

project = "pytest-membudget"
author = "the pytest-membudget contributors"
copyright = f"2026, {author}"  # noqa: A001  # Sphinx reads this name
release = metadata.version("pytest-membudget")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
exclude_patterns = ["reference/generated"]
myst_enable_extensions = ["deflist", "colon_fence"]
smartquotes = False  # "--option" is no dash
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
napoleon_google_docstring = False
nitpick_ignore_regex = [("py:.*", r"(int|str|float|bool|tuple|None|Exception|Frame|Site|optional)")]

copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True

html_theme = "furo"
html_title = f"pytest-membudget {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
# Published beside the pages, under its own name.
html_extra_path = ["../pytest_membudget/reports/run.schema.json"]

GENERATED = HERE / "reference" / "generated"
GENERATED.mkdir(exist_ok=True)
(GENERATED / "options.md").write_text(options_table.render(), encoding="utf-8")
(GENERATED / "json.md").write_text(json_tables.render(), encoding="utf-8")
