"""The constructs that generated parsers declare: they parse and build, and are what the bytes mean.

What structs of every encoding share stands here; each encoding has a module or a folder of its own, and sees no other.
"""
