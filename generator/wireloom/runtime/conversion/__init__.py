"""Records of one format to another with the same columns: decoded, fitted, encoded, with Arrow in between.

Nothing is lost silently. Columns that the other format lacks are known before the first record. Values that one of its
records has no place for are found by its builder, which reads back what it wrote. Both are reported for each record
with such a value.
"""

from wireloom.runtime.conversion.conversion import Conversion, Converted, conversion
from wireloom.runtime.conversion.fitting import Difference

__all__ = ["Conversion", "Converted", "Difference", "conversion"]
