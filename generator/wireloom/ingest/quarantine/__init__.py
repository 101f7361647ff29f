"""The quarantine table: its rows, and decoding them again."""
