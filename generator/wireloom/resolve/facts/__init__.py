"""What holds for a format before there is any data: its expressions, names, sizes and ranges of values.

Nothing here reports a problem; checks use these facts and report.
"""
