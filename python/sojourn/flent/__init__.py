"""Data files of Flent (``.flent.gz``, version 4): written from results, read, summarised, drawn and compared.

T. Hoiland-Jorgensen, C. A. Grazia, P. Hurtig, A. Brunstrom, "Flent: The Flexible Network Tester", ValueTools
2017. A file has one test: series over time by name, and beside them the raw samples.
"""

from sojourn.flent.capture import Capture
from sojourn.flent.reading import read

__all__ = ["Capture", "read"]
