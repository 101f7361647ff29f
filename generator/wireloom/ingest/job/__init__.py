"""A job: from its plan to its tasks, what stops it, and what it reports."""
