"""What generated modules run on: one package per concern, and a `Codec` that joins them.

`parsers` turn bytes into values, `columns` turn values into what readers see, `streams` find where records begin and
end; `engine` reads and writes columns natively. The modules beside this one (errors, values, parameters, the cursor and
the functions of expressions) are shared. tests/docs/test_architecture.py lists which package may import which; none
imports the codec. Importing this package loads only what reading bytes needs, and never the generator.
"""

CONTRACT = 3
"""The version of the interface between generated code and this package; a generated package states its version."""
