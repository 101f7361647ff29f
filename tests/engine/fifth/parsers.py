"""The encoding's constructs for generated parsers."""

from wireloom.runtime.parsers import binary
from wireloom.runtime.parsers.binary import Array, Numeral

__all__ = ["Array", "Numeral", "Text"]


class Text(binary.Text):
    """A text, padded with spaces."""

    def __init__(self, size, *, invalid=None):
        super().__init__(binary.Padded(size, b" "), invalid=invalid)
