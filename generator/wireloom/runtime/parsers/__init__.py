"""The constructs that generated parsers declare. They parse and build, and define what the bytes mean.

This folder has the parts that structs of every encoding share. Each encoding has its own module or folder, and does not
import another encoding.
"""
