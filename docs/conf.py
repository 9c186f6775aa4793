"""Configuration of Sphinx for these pages: `make docs`."""

import sys
from pathlib import Path

from sojourn import __version__

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

project = "Sojourn"
author = "The Sojourn authors"
copyright = author  # noqa: A001 (Sphinx's name for it)
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sojourn_docs"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["sojourn_docs", "notebooks", "pictures", "howto/wave.md"]
language = "en-GB"

# A broken reference is a warning, and `make docs` makes warnings errors. The types of other
# packages have no pages here: nothing is fetched while building.
nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(?!sojourn\.).*")]

myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
html_math_renderer = "mathml"

# In docstrings a single backtick is a name.
default_role = "code"
smartquotes = False
autodoc_class_signature = "separated"
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"

html_theme = "furo"
html_title = f"Sojourn {release}"
html_static_path = ["static"]
html_css_files = ["pages.css"]
html_show_sphinx = False
html_copy_source = False
