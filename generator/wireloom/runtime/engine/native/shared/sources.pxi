# The digest of the sources that a compiled module was made from; runtime/engine/sources.py compares it with the files.

cdef extern from *:
    """
    #ifndef WIRELOOM_SOURCES
    #define WIRELOOM_SOURCES ""
    #endif
    """
    const char *WIRELOOM_SOURCES

SOURCES = WIRELOOM_SOURCES.decode("ascii")
"""The digest of the sources that this engine was made from, as `sources.digest` computes it."""
