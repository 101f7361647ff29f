"""The cases that the engine leaves to the parser and the builders (docs/decisions/0017)."""

LEFT = {  # the reasons in the words of `decode_path` and `encode_path`
    "bit_lists": "a list whose elements are not whole bytes",
    "datagram": "a checksum with `stored`, or over several ranges or expressions",
    "directories": "a field with `at` and `from`",
    "elsewhere": "a field with `at` and `from`",
    "ext_choices": "several alternatives of type `ext`",
    "float_times": "a `range` or a time of a value that is not an integer",
    "float_times_binary": "a `range` or a time of a value that is not an integer",
    "float_times_msgpack": "a `range` or a time of a value that is not an integer",
    "numerals": "a binary integer in quic form",
    "order_by_number": "a protobuf message field with `when`, `since` or `until`",
    "other_members_packed": "an `inline` map in MessagePack",
    "record_file": "a checksum with `stored`, or over several ranges or expressions",
    "reply": "a checksum with `stored`, or over several ranges or expressions",
    "settings_packed": "an `inline` map in MessagePack",
    "short_message": "a checksum with `stored`, or over several ranges or expressions",
    "vehicle_message": "a checksum with `stored`, or over several ranges or expressions",
    "wide_keys": "a number read from a computed text",
}
