"""What is known of a format before there is any data: its expressions, names, sizes and ranges of values.

Nothing here reports a problem; checks ask, and report.
"""
