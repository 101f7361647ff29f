"""Tests of the native engine against the parser."""
