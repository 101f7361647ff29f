# cython: language_level=3, boundscheck=False, wraparound=True, cdivision=True, initializedcheck=False
"""The validators of the engine: every operand of a program is held against what it names before it may run.

They are a module of their own since they are no code that a compiler has to work hard on: with the engine they took a
third of its time.
"""

include "native/shared/types.pxi"
include "native/shared/words.pxi"
include "native/writing/types.pxi"
include "native/reading/checks.pxi"
include "native/writing/checks.pxi"
include "native/shared/sources.pxi"
