# The nodes of a JSON text as Python objects, for the parser.
#
# `document` returns None if the text is irregular; parsers/json/text.py then reads it and reports the error.

from cpython.unicode cimport PyUnicode_DecodeUTF8

cdef tuple NODE_KINDS = ("null", "bool", "int", "float", "str", "array", "object")  # as json.h counts them


def document(bytes text not None, int64_t depth, node, source):
    """The value of a whole text as objects of the class `node`; None if the text is irregular.

    At most `depth` containers may be nested. A node is made from `source`, its kind, its start and end, and its value, as in
    parsers/json/nodes.py.
    """
    cdef wl_json json
    cdef int code
    memset(&json, 0, sizeof(wl_json))
    json.seed = hash_seed
    try:
        code = wl_json_read(&json, <const uint8_t *>PyBytes_AS_STRING(text), len(text), depth)
        if code < 0:
            raise MemoryError("no memory for the nodes of a text")
        return node_object(&json, 0, node, source) if code else None
    finally:
        wl_json_free(&json)


cdef object node_object(const wl_json *json, int64_t place, node, source):
    """The node at an index with all nodes inside; None if one of them needs the other reader."""
    cdef const wl_node *at = json.nodes + place
    cdef object value
    if at.kind == WL_LIST:
        value = node_elements(json, place, node, source)
    elif at.kind == WL_OBJECT:
        value = node_members(json, place, node, source)
    elif at.kind == WL_NULL:
        return node(source, "null", at.start, at.end, None)
    elif at.kind == WL_BOOLEAN:
        value = at.value != 0
    elif at.kind == WL_TEXT:
        value = node_text(json, at)
    else:
        value = node_number(at)
    return None if value is None else node(source, NODE_KINDS[at.kind], at.start, at.end, value)


cdef list node_elements(const wl_json *json, int64_t place, node, source):
    cdef int64_t end = json.nodes[place].next, at = place + 1
    cdef list elements = []
    while at < end:
        element = node_object(json, at, node, source)
        if element is None:
            return None
        elements.append(element)
        at = json.nodes[at].next
    return elements


cdef list node_members(const wl_json *json, int64_t place, node, source):
    cdef int64_t end = json.nodes[place].next, at = place + 1
    cdef list members = []
    while at < end:
        member = node_object(json, at + 1, node, source)
        if member is None:
            return None
        members.append((node_text(json, json.nodes + at), json.nodes[at].start, member))
        at = json.nodes[at + 1].next
    return members


cdef str node_text(const wl_json *json, const wl_node *at):
    cdef int64_t size = 0
    cdef const uint8_t *text = wl_text_of(json, at, &size)
    return PyUnicode_DecodeUTF8(<const char *>text, size, NULL)


cdef object node_number(const wl_node *at):
    """The number; None if it needs more digits than a node has, or Python's own conversion."""
    cdef double real = 0
    if at.kind == WL_FLOAT:
        return real if wl_node_real(at, &real) else None
    if at.flags & WL_BEYOND:
        return None
    return <uint64_t>at.value if at.flags & WL_WIDE else <int64_t>at.value
