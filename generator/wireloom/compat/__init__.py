"""What a change to specs breaks, and for whom: records, tables, documents, programs.

`sources` reads the old specs, `comparison` holds them against the new ones: `structure` says where two models differ,
`witnesses` runs records through both, `columns` and `interface` look at tables and programs. `rules` names every kind
of change, `accepted` leaves out what a team wants, `reports` prints the rest.
"""

from wireloom.compat.accepted import acceptances, sort
from wireloom.compat.comparison import MODES, Compared, Mode, compare
from wireloom.compat.findings import Finding
from wireloom.compat.sources import Source, against

__all__ = ["MODES", "Compared", "Finding", "Mode", "Source", "acceptances", "against", "compare", "sort"]
