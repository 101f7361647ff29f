"""The commands, one module each, grouped by what they work on: specs, records, tables, or a project."""
