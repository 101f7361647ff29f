"""Random specs as the proof that what generates works.

`formats` writes specs over the whole language, `values` makes values of what was generated, `properties` says what
must hold of every spec that `generate` accepts, `shrinking` makes a violation small, `running` runs thousands.
"""
