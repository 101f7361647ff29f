"""What generated modules run on: a room for each concern, and a `Codec` above them that joins what they do.

`parsers` say what bytes mean, `columns` what readers see, `streams` where records begin and end; `engine` reads and
writes columns natively. They share the modules that stand beside this one (errors, values, parameters, the cursor and
the functions of expressions) and see of one another what tests/docs/test_architecture.py lists; none sees the codec.
Imports what reading bytes needs and nothing else; the generator is never imported here.
"""

CONTRACT = 3
"""The version of what generated code may expect of this package; a generated package says which it was made for."""
