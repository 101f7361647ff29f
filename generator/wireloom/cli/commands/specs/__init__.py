"""Commands that work on specs."""
