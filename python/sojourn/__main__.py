"""`python -m sojourn` is the same as `sojourn`."""

import sys

from sojourn.cli import main

sys.exit(main())
