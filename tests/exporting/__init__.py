"""Tests of exports to other languages."""
