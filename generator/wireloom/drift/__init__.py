"""Compares a spec with real records: what the spec does not know, and what never occurs in the records.

`observing` counts over all records: values, errors, numbers without a word; for a sample of records it also finds bytes
that no column shows. `suggesting` turns some of the results into changes of the spec.
"""

from wireloom.drift.observing import Observed, Refused, Values, observe, trace, words
from wireloom.drift.suggesting import Suggestion, patch, suggestions

__all__ = ["Observed", "Refused", "Suggestion", "Values", "observe", "patch", "suggestions", "trace", "words"]
