"""Records of one format as those of another that shows the same columns: decoded, fitted, encoded; Arrow in the middle.

Nothing is lost in silence. What the other format has no member for is known before the first record, what one of its
records has no place for is found by its builder, which reads back what it wrote; either is said of each record that had
such a value.
"""

from wireloom.runtime.conversion.conversion import Conversion, Converted, conversion
from wireloom.runtime.conversion.fitting import Difference

__all__ = ["Conversion", "Converted", "Difference", "conversion"]
