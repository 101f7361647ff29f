"""Commands that start, show, package and document a project."""
