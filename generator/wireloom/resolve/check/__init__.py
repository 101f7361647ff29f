"""Rules that make a format unusable: one module for each rule or group, each with one `check_` function."""
