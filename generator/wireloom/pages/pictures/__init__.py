"""The SVG pictures of a page: rulers of bytes, lists of fields, branches of choices."""
