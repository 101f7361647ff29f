"""Tests of the language, its diagnostics, the model, and the generated files."""
