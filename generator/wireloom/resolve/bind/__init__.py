"""Names and notations: what each part of a document refers to, before any type is known.

A draft is one format on its way; the outline says what expressions can see, scopes what a name means at one place.
"""
