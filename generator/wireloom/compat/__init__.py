"""Finds what a change to specs breaks: records, tables, documents and programs.

`sources` reads the old specs, and `comparison` compares them with the new ones: `structure` finds where two models
differ, `witnesses` runs records through both, `columns` and `interface` compare tables and modules. `rules` names every
kind of change, `accepted` drops the findings that a team accepts, `reports` prints the rest.
"""

from wireloom.compat.accepted import acceptances, sort
from wireloom.compat.comparison import MODES, Compared, Mode, compare
from wireloom.compat.findings import Finding
from wireloom.compat.sources import Source, against

__all__ = ["MODES", "Compared", "Finding", "Mode", "Source", "acceptances", "against", "compare", "sort"]
