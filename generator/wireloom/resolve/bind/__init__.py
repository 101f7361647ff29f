"""Find out what each part of a document refers to, before any type is resolved.

A draft is a format that is being resolved. The outline lists what expressions can refer to, and a scope resolves the
names at one place.
"""
