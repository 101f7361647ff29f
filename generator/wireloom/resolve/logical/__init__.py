"""Wire types -> what readers see: logical types, shared schemas, and the entry points of a format."""
