"""Warnings about specs that work but are probably not meant so, and advice."""
