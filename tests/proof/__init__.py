"""Random specs that test the generator on the whole language.

`formats` writes random specs, `values` draws values for them, `properties` checks the guarantees of every accepted
spec, `shrinking` makes a violation small, and `running` runs thousands.
"""
