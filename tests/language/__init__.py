"""What specs mean: the language, its diagnostics, the model, and what is generated from it."""
