"""Test vectors of a format: records that every reader must accept, with their values, and records that it must refuse.

All are made from the examples in the spec, and the same spec always gives the same bytes. `valid` changes one value at
a time to an extreme: the smallest and largest number, each word of an enumeration, no elements, null. `invalid` breaks
one thing at a time, and keeps one record for each error code and path. `manifest` is the file that holds them.
"""

from wireloom.vectors.making import Made, make
from wireloom.vectors.manifest import Vector, document, findings, recognises

__all__ = ["Made", "Vector", "document", "findings", "make", "recognises"]
