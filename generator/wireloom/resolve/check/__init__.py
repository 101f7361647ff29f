"""What would misbehave or cannot be built: one module a rule or family, each with one `check_` function."""
