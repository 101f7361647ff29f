"""The expression language: small, total, never `eval`."""
