"""Values of a format, made from its model: what tests build and what `compat` tries two specs with."""
