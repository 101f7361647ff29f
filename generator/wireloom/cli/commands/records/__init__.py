"""Commands that read or write records."""
