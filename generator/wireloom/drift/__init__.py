"""A spec held against real traffic: what the traffic has that the spec does not know, and what it never has.

`observing` counts over all records: values, errors, words without a name, and in a sample of records the bytes that no
column shows. `suggesting` turns some of that into changes of the spec.
"""

from wireloom.drift.observing import Observed, Refused, Values, observe, trace, words
from wireloom.drift.suggesting import Suggestion, patch, suggestions

__all__ = ["Observed", "Refused", "Suggestion", "Values", "observe", "patch", "suggestions", "trace", "words"]
