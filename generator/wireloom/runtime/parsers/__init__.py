"""The constructs that generated parsers declare. They parse and build; their behaviour defines what the bytes mean.

This folder has what structs of every encoding share. Each encoding has a module or folder, and sees no other encoding.
"""
