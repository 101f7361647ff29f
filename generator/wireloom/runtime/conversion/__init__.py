"""Converts records of one format to another with the same columns: decode, fit, encode, with Arrow in between.

Nothing is lost silently. Columns that the target lacks are known before the first record. A value that a target record
has no place for is found by its builder, which reads back what it wrote. Both losses are reported for each record.
"""

from wireloom.runtime.conversion.conversion import Conversion, Converted, conversion
from wireloom.runtime.conversion.fitting import Difference

__all__ = ["Conversion", "Converted", "Difference", "conversion"]
