# cython: language_level=3, boundscheck=False, wraparound=True, cdivision=True, initializedcheck=False
"""The validators of the engine: every operand of a program is held against what it names before it may run.

They are a module of their own since they are no code that a compiler has to work hard on: with the engine they took a
third of its time.
"""

include "types.pxi"
include "words.pxi"
include "encode_types.pxi"
include "checks.pxi"
include "encode_checks.pxi"
include "sources.pxi"
