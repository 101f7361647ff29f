"""The expression language: small, total, and never evaluated with `eval`."""
