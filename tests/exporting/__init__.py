"""What generated modules do: parse, build, streams, columns, schemas, validation and conversion."""
