"""A layout, bound to one root and its parameters, becomes a program that writes records from columns.

The mirror of `engine/compiler`: what `build` does with a value, a program does with the columns of a row. Whatever it
cannot do raises `Uncovered`; the construct path then encodes the rows. `program.py` holds what the parts share; a wire
type of an encoding is one case of `value` in the encoding's file.
"""

from wireloom.runtime.engine.encoder.program import Compiler

__all__ = ["Compiler"]
