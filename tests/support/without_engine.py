"""The cases that the engine leaves to the parser and the builders (docs/decisions/0017)."""

LEFT = {  # the words in which `decode_path` and `encode_path` say so
    "bit_lists": "a list of what is no whole number of bytes",
    "datagram": "a checksum that something else stands for, or that covers what stands elsewhere",
    "directories": "a field at an offset from a mark",
    "elsewhere": "a field at an offset from a mark",
    "ext_choices": "alternatives of several ext types",
    "numerals": "a binary integer as quic has it",
    "order_by_number": "a message under a condition, which is looked at whether it holds or not",
    "other_members_packed": "the rest of a MessagePack object",
    "record_file": "a checksum that something else stands for, or that covers what stands elsewhere",
    "reply": "a checksum that something else stands for, or that covers what stands elsewhere",
    "settings_packed": "the rest of a MessagePack object",
    "short_message": "a checksum that something else stands for, or that covers what stands elsewhere",
    "vehicle_message": "a checksum that something else stands for, or that covers what stands elsewhere",
    "wide_keys": "the number of a text that is computed",
}
