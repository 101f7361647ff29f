"""Tests of generated modules: parsing, building, streams, columns, schemas, validation and conversion."""
