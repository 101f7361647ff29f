"""Makes specs from descriptions in other languages: one package for each language, and shared modules."""
