"""The compiler for reading: a layout, bound to a root, its parameters and the columns asked for, becomes a program.

If the engine cannot do something, `Uncovered` is raised; the construct parser then reads the format. `program.py`
holds what the parts share; a wire type of an encoding is one case of `value` in the file of the encoding. `fusion.py`
then joins instructions, `register_checks.py` proves that every register is filled, and `table.py` runs the program.
"""

from wireloom.runtime.engine.compiler.program import Compiler

__all__ = ["Compiler"]
