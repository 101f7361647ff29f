# cython: language_level=3, boundscheck=False, wraparound=True, cdivision=True, initializedcheck=False
"""The validators of the engine: they check each operand of a program before it may run.

They are a module of their own, compiled with less optimization: as part of the engine they took a third of its compile
time.
"""

include "native/shared/types.pxi"
include "native/shared/words.pxi"
include "native/writing/types.pxi"
include "native/reading/checks.pxi"
include "native/writing/checks.pxi"
include "native/shared/sources.pxi"
