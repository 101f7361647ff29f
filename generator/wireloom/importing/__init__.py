"""Specs from descriptions in other languages: one package for each language, and what they have in common here."""
