"""Examples of specs, run: what each says of its bytes, held against what the generated code does with them.

A format's modules are made in memory, so that examples are run before a file is written, and whatever lies on disk.
`run` judges them one by one (`trial`), and says where the first member stands that is not as stated (`differences`).
`recording` writes what came into examples that state nothing yet, or something else; `editing` edits their text.
"""

from wireloom.examples.memory import opened
from wireloom.examples.recording import Recorded, Revision
from wireloom.examples.trial import Failure, Report, Subject, record, revisions, run

__all__ = ["Failure", "Recorded", "Report", "Revision", "Subject", "opened", "record", "revisions", "run"]
