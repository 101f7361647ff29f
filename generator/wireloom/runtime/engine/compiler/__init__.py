"""A layout, bound to one root, its parameters and the columns asked for, becomes a program of the engine.

Whatever the engine cannot do raises `Uncovered`; the construct parser then reads the format. `program.py` holds what
the parts share and the ways between them; a wire type of an encoding is one case of `value` in the encoding's file.
"""

from wireloom.runtime.engine.compiler.program import Compiler

__all__ = ["Compiler"]
