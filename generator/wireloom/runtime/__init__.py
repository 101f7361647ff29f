"""What generated modules run on: errors, values, constructs, checksums, columns.

Imports what reading bytes needs and nothing else; the generator is never imported here.
"""

CONTRACT = 1
"""The version of what generated code may expect of this package; a generated package says which it was made for."""
