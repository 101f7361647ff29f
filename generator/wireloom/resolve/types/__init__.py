"""Documents -> wire types: every key of a type, struct or field read for the encoding that it stands in."""
