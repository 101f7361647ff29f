"""The rows of a quarantine, and decoding them again."""
