"""Resolve documents to wire types: every key of a type, struct or field, checked for its encoding."""
