"""Wireloom: one YAML spec in; parser, schemas, Spark columns and documents out.

This module imports nothing: executors import `wireloom.runtime` through it.
"""

__version__ = "0.2.0"
