"""A fifth encoding in a package of its own: text columns of fixed width, as in mainframe files.

Numbers are digits (`dec5`), and texts are padded with spaces (`str(6)`). Each module has the part for one stage.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from engine.fifth import parsers
from engine.fifth.declaration import COLUMNS
from engine.fifth.programs import Reading, Writing
from wireloom.emit.construct.encodings import PARSERS
from wireloom.emit.construct.encodings.binary import Binary
from wireloom.encodings import ENCODINGS
from wireloom.runtime.engine.compiler import program as reading
from wireloom.runtime.engine.encoder import program as writing

MODULE = "wireloom.runtime.parsers.columns"


@contextmanager
def registered() -> Iterator[None]:
    """Register the encoding in each stage within the block."""
    with (
        patch.dict(ENCODINGS, columns=COLUMNS),
        patch.dict(PARSERS, columns=Binary("columns")),
        patch.dict(reading.OTHERS, columns=Reading),
        patch.dict(writing.OTHERS, columns=Writing),
        patch.dict(sys.modules, {MODULE: parsers}),
        patch("wireloom.runtime.parsers.columns", parsers, create=True),
    ):
        yield
