"""The compiler for writing: a layout, bound to a root and its parameters, becomes a program that writes records.

It mirrors `engine/compiler`: what `build` does with a value, a program does with the columns of a row. If it cannot
compile something, it raises `Uncovered`, and the construct path encodes the rows. `program.py` holds what the parts
share; a wire type of an encoding is one case of `value` in the encoding's file.
"""

from wireloom.runtime.engine.encoder.program import Compiler

__all__ = ["Compiler"]
