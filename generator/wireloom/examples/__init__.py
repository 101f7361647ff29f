"""Runs the examples of specs: compares what each states about its bytes with the behaviour of the generated code.

The modules of a format are made in memory, so examples run before files are written, and regardless of those on disk.
`trial` checks one example after the other; `differences` finds the first member that differs. `recording` writes actual
results into examples that state none, or other ones; `editing` edits the text of specs.
"""

from wireloom.examples.memory import opened
from wireloom.examples.recording import Recorded, Revision
from wireloom.examples.trial import Failure, Report, Subject, record, revisions, run

__all__ = ["Failure", "Recorded", "Report", "Revision", "Subject", "opened", "record", "revisions", "run"]
