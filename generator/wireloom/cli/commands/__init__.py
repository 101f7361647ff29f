"""The commands, one module each, by what they work on: specs, records, tables, or a project."""
