"""The native engine, held against the parser."""
