# The validator of reading programs. Before a program runs, it checks every operand of every instruction.
#
# The machine is safe because of it: the machine itself checks no operand. `_STATED` says what each operand names; the
# validator requires that the register, column, table, text or target exists and has the right kind. Jumps and calls
# lead forward only, so every run ends; calls are nested at most `_CALL_DEPTH` deep. Expressions never pop an empty stack
# or overflow it. A pointer, position or saved end is only read from a register that never holds anything else.

_NONE = -1

# The operands of each instruction, in order:
#   R register  r register or none   P pair of registers   S start of the register range   E its end
#   I integer column  F float column  B boolean column  Y bytes column  A column of one of these
#   U struct column   L list column   (lower case: or none)
#   X expression  T jump target  C called target  K error code  Q slot  q slot or none  N any number
#   W switch table  O code table  G family table  V arity table  D rules  H message fields  Z crc
#   J text with its size after it  # counted list of numbers  { members of a JSON object  ? targets by kind of JSON
# Each register is of one class: > precedes the class that an instruction writes, < the class that it relies on. A
# pointer, a position or a saved end is only read from a register that nothing else is written to. A name follows a dot.
_STATED = {
    OP_RETURN: "u",
    OP_ENTER: "r>start r>size S E",
    OP_INTEGER: "N N N r>value i r>value",
    OP_FLOAT: "N N f",
    OP_BOOLEAN: "r>value b K",
    OP_BYTES: "N N N r>bytes y N",
    OP_CONSTANT: "N K N",
    OP_CONSTANT_BYTES: "R<bytes J N K",
    OP_RANGE: "N N N N K",
    OP_MAPPING: "N K r>value a",
    OP_BITS: "N N N K r>value a",
    OP_WHEN: "X T",
    OP_CHECK: "X K",
    OP_COMPUTE: "X N r>value a N N",
    OP_MAKE: "X r>bytes y N",
    OP_VERIFY_CRC: "Z X X R<start R<value K",
    OP_VERIFY_DIGEST: "N X X R<start R<bytes K",
    OP_MARK: "R>value R<start",
    OP_NEED: "X R<start",
    OP_FRAME: "X R<start R>size P>save K",
    OP_UNFRAME: "P<save",
    OP_SEEK: "N N R<start R<reach",
    OP_REACH: "R>reach",
    OP_LEAVE: "R<reach",
    OP_WINDOW: "N N N N",
    OP_HOLE: "X R<start N",
    OP_REGION: "X K P>save",
    OP_UNREGION: "P<save",
    OP_END: "K",
    OP_BEGIN: "U",
    OP_FINISH: "U",
    OP_PEEK: "N N N",
    OP_SWITCH: "W K r",
    OP_JUMP: "",
    OP_REPEAT: "N N C l R>value r>value",
    OP_ATTEMPT: "C O T # R>value",
    OP_FAIL: "K",
    OP_PACK_INTEGER: "N N N.flags u.struct r>value i",
    OP_PACK_FLOAT: "N.flags u.struct f",
    OP_PACK_BOOLEAN: "N.flags u.struct r>value b",
    OP_PACK_NIL: "",
    OP_PACK_TEXT: "N N.flags u.struct r>bytes y",
    OP_PACK_BYTES: "N N.flags u.struct r>bytes y",
    OP_PACK_NIL_JUMP: "T",
    OP_PACK_OPEN: "D N y y N N",
    OP_PACK_FAMILY: "G",
    OP_PACK_ARITY: "V r>value u",
    OP_MATCH: "R<bytes N N r>value a",
    OP_PACK_REPEAT: "C l R>value r<bytes N r<value",
    OP_PROTO_MESSAGE: "H",
    OP_PROTO_ABSENT: "Q T N",
    OP_PROTO_INTEGER: "Q N N N r>value a",
    OP_PROTO_FLOAT: "Q N N f",
    OP_PROTO_BYTES: "Q N r>bytes y N",
    OP_PROTO_SUB: "Q P>save",
    OP_PROTO_UNSUB: "P<save",
    OP_PROTO_REPEAT: "Q C l R>value q r>value",
    OP_PROTO_TABLE: "Q",
    OP_PROTO_ENTRY: "Q N r>bytes y N",
    OP_PACK_CONSTANT: "N K N",
    OP_PACK_MAPPED: "N K r>value a",
    OP_BRANCH: "N R r N T T",
    OP_BRANCH_IN: "R # T",
    OP_FIXED: "N N T",
    OP_VALUE: "R",
    OP_ARITHMETIC: "N R>value R r N T",
    OP_PACK_COUNT: "r>value",
    OP_TEXT: "J N r>bytes y",
    OP_REAL: "N f",
    OP_CHARSET: "R<bytes N K",
    OP_SPELLING: "R<bytes N N N N K",
    OP_PACK_OBJECT: "Q { N",
    OP_PACK_MEMBER: "Q T N",
    OP_PACK_CLOSE: "Q { N",
    OP_JSON_DOCUMENT: "N",
    OP_JSON_OBJECT: "Q {",
    OP_JSON_CLOSE: "Q {",
    OP_JSON_REST: "Q {",
    OP_JSON_MEMBER: "Q T N",
    OP_JSON_FIND: "J N Q T",
    OP_JSON_AT: "Q",
    OP_JSON_ARRAY: "V r>value Q",
    OP_JSON_ELEMENT: "Q",
    OP_JSON_NO_MORE: "Q",
    OP_JSON_NEXT: "",
    OP_JSON_INTEGER: "N N N r>value i",
    OP_JSON_FLOAT: "N f",
    OP_JSON_BOOLEAN: "r>value b",
    OP_JSON_NULL: "",
    OP_JSON_TEXT: "r>bytes y",
    OP_JSON_BYTES: "N N r>bytes y",
    OP_JSON_RAW: "N y",
    OP_JSON_NULL_JUMP: "T",
    OP_JSON_KIND: "?",
    OP_JSON_REPEAT: "C l R>value r<bytes N r<value",
    OP_JSON_COUNT: "r>value",
    OP_JSON_OPEN: "N N y y N",
    OP_WIDE_DECIMAL: "R<bytes N P>wide",
    OP_WIDE_MD5: "R<bytes P>wide",
    OP_WIDE_BRANCH: "N P<wide p<wide N T T",
    OP_DISCARD: "R<value R>value l r>value i",
    OP_PACK_EXT: "N N r>bytes y",
    OP_UNIQUE_OPEN: "R>names",
    OP_UNIQUE: "R<names r<bytes r<value",
    OP_UNIQUE_CLOSE: "R<names",
    OP_PROTO_ENTRIES: "Q C l r<bytes r<value r>value",
    OP_UNPACK: "N r<value N N",
    OP_UNPACKED: "",
}
_INTEGERS = frozenset((KIND_INT8, KIND_INT16, KIND_INT32, KIND_INT64, KIND_DECIMAL))
_COLUMN_KINDS = {
    "I": _INTEGERS,
    "F": frozenset((KIND_FLOAT, KIND_DOUBLE)),
    "B": frozenset((KIND_BOOLEAN,)),
    "Y": frozenset((KIND_BYTES,)),
    "A": _INTEGERS | {KIND_BOOLEAN, KIND_BYTES, KIND_FLOAT, KIND_DOUBLE},
    "U": frozenset((KIND_STRUCT,)),
    "L": frozenset((KIND_LIST,)),
}
_EXPRESSION_REGISTERS = frozenset((X_LOAD, X_HERE, X_TEXT))
_TWO_VALUES = frozenset((*range(X_ADD, X_GREATER_EQUAL + 1), *range(X_MINIMUM, X_COUNT)))
# Values needed, change of the stack after the operation, change at the jump target (None: no jump).
_EFFECTS = {
    X_CONST: (0, 1, None),
    X_NULL: (0, 1, None),
    X_LOAD: (0, 1, None),
    X_HERE: (0, 1, None),
    X_TEXT: (0, 1, None),
    X_PART: (3, -2, None),
    X_JUMP: (0, 0, 0),
    X_JUMP_IF_FALSE_KEEP: (1, 0, 0),
    X_JUMP_IF_TRUE_KEEP: (1, 0, 0),
    X_JUMP_IF_FALSE: (1, -1, -1),
}
_CALL_DEPTH = 64


def _stated(of):
    """What `of` finds in the statement of each instruction, by the operand's index."""
    found = {int(op): {place: of(word) for place, word in enumerate(words.split(), 1)} for op, words in _STATED.items()}
    return {op: {place: each for place, each in places.items() if each} for op, places in found.items()}


OPERANDS = {op: "".join(letters.values()) for op, letters in _stated(lambda word: word[0]).items()}
"""The letters of the operands of an instruction."""
WRITERS = _stated(lambda word: word.partition(">")[2])
"""The class of what an instruction writes into registers, by instruction and operand."""
READERS = _stated(lambda word: word.partition("<")[2])
"""The class of register that an instruction relies on, by instruction and operand."""
PLACES = {op: {name: place for place, name in names.items()} for op, names in _stated(lambda word: word.partition(".")[2]).items()}
"""The indices of named operands, by instruction."""


def _is_numeral(word):
    """Whether a word is a valid form of numbers that are not two's complement (see `number_form`)."""
    bits, form, digits = word & 0xFF, word >> 8 & 0xFF, word >> 16
    if form == 12:
        return _are_markers(digits, bits)
    if form == 14:
        most, each, size, ending = digits & 0xFF, digits >> 8 & 0xF, digits >> 12 & 0xF, digits >> 16
        return bits == 64 and 8 <= each <= 11 and 1 <= most <= 22 and size in (1, 2) and 0 <= ending < 1 << 16
    if form >= 15:
        return form <= 18 and 1 <= digits <= 18 and bits <= 64
    if form >= 6:
        return form <= 11 and 1 <= digits <= (18, 18, 18, 16, 21, 16)[form - 6] and bits <= 64
    return digits == 0 and form == 0 and bits in (32, 64)


def _are_markers(markers, bits):
    """Whether the markers are bytes, with widths of up to eight bytes, of which the largest has so many bits."""
    widths = [markers >> 9 + 4 * n & 0xF for n in range(MARKERS)]
    last = max([n for n, width in enumerate(widths) if width], default=0)
    return markers >> 9 + 4 * MARKERS == 0 and bits == 8 * max(widths) and 8 <= bits <= 64 and (markers & 0xFF) + last <= 0xFF


class LayoutError(ValueError):
    """The engine cannot trust a layout: an index, a jump or a width is invalid."""


class Checker:
    """Checks one program."""

    beside = frozenset()  # filled columns, which are no members of their structs

    def __init__(self, code, expressions, tables, texts, crcs, columns, registers, slots):
        self.code, self.expressions, self.tables, self.texts = code, expressions, tables, texts
        self.crcs, self.columns, self.registers, self.slots = crcs, columns, registers, slots
        self.count = len(code) // WIDTH
        self.calls = {}

    def check(self, entries):
        self.require(len(self.code) % WIDTH == 0 and self.count > 0, "instructions of the wrong width")
        self.require(self.code[-WIDTH] == OP_RETURN, "no return at the end")
        self.check_columns()
        for entry in entries:
            self.require(0 <= entry < self.count, f"entry {entry}")
        for at in range(self.count):
            self.check_instruction(at, self.code[at * WIDTH : (at + 1) * WIDTH])
        self.check_registers()
        self.check_depth()

    def require(self, good, what):
        if not good:
            raise LayoutError(f"a malformed layout: {what}")

    def check_columns(self):
        """Check that parents come first and each child is linked once."""
        self.require(self.columns, "no columns")
        seen = {0}
        for index, (kind, parent, child, sibling) in enumerate(self.columns):
            self.require(0 <= kind < KIND_COUNT, f"kind {kind} of column {index}")
            self.require(parent == _NONE or (parent < index and self.columns[parent][0] == KIND_STRUCT), f"parent {parent} of column {index}")
            for link in (child, sibling):
                if link != _NONE:
                    self.require(index < link < len(self.columns) and link not in seen, f"link {link} of column {index}")
                    seen.add(link)
            if kind == KIND_LIST:
                self.require(child != _NONE and self.columns[child][1:4:2] == (_NONE, _NONE), f"element of list {index}")
            elif kind == KIND_STRUCT:
                while child != _NONE:
                    self.require(child < len(self.columns) and self.columns[child][1] == index, f"member {child} of struct {index}")
                    following = self.columns[child][3]
                    self.require(following == _NONE or following > child, f"sibling of column {child}")
                    child = following
            else:
                self.require(child == _NONE, f"child of column {index}")
        self.require(len(seen | self.beside) == len(self.columns), "columns that nothing leads to")

    def check_instruction(self, at, words):
        cdef int op
        self.require(words[0] in OPERANDS, f"instruction {words[0]} at {at}")
        op = words[0]
        if op not in (OP_RETURN, OP_FAIL):
            self.require(at < words[NEXT] < self.count, f"what comes behind instruction {at}")
        for letter, value, rest in zip(OPERANDS[op], words[1:], range(1, WIDTH)):
            self.check_operand(letter, value, at, words, rest)
        self.check_special(op, words, at)

    def check_operand(self, letter, value, at, words, place):
        where = f"operand {place} of instruction {at}: {value}"
        if letter.islower():
            if value == _NONE:
                return
            letter = letter.upper()
        if letter in "RQP":
            limit = self.slots if letter == "Q" else self.registers - (letter == "P")
            self.require(0 <= value < limit, where)
        elif letter in "SE":
            self.require(0 <= value <= self.registers, where)
        elif letter in _COLUMN_KINDS:
            self.require(0 <= value < len(self.columns) and self.columns[value][0] in _COLUMN_KINDS[letter], where)
        elif letter == "X":
            self.check_expression(value, where)
        elif letter in "TC":
            self.require(at < value < self.count, where)
            if letter == "C":
                self.calls.setdefault(at, []).append(value)
        elif letter == "K":
            self.require(self.is_code(value), where)
        elif letter == "Z":
            self.require(0 <= value < len(self.crcs), where)
        elif letter == "J":
            self.require(0 <= value and 0 <= words[place + 1] and value + words[place + 1] <= len(self.texts), where)
        elif letter == "#":
            self.counted(value, 1, where)
        elif letter == "{":
            for symbol, slot in self.counted(value, 2, where):
                self.check_symbol(symbol, where)
                self.require(0 <= slot < self.slots, where)
        elif letter == "?":
            for target in self.span(value, WL_OBJECT + 1, where):
                self.require(target == _NONE or at < target < self.count, where)
        elif letter in "WOGVDH":
            getattr(self, f"check_{letter}")(value, at, where)

    def check_prefix(self, word, where):
        """Check a number before the data (see `prefix_word`)."""
        width, order = word >> 1 & 15, word >> 8
        self.require(word & 1 and (1 <= width <= 8 and order in (0, 1) or width == 0 and _is_numeral(order)), where)

    def check_ended(self, start, where):
        """Check a table of `programs/delimiters.py`."""
        escape, form, place, stops, delimiters = self.span(start, 5, where)
        self.require(_NONE <= escape < 256 and form in (0, 1, 2) and 0 <= place <= len(self.texts) - 256, where)
        self.require(1 <= stops <= 256 and 1 <= delimiters <= 256, where)
        self.require(all(0 <= stop < 256 for stop in self.span(start + 5, stops, where)), where)
        self.require(escape == _NONE or escape in self.span(start + 5, stops, where), where)
        self.require(form != 1 or delimiters == 1, where)
        self.require(form != 2 or escape == _NONE, where)
        for symbol in self.span(start + 5 + stops, delimiters, where):
            self.check_symbol(symbol, where)
            self.require(symbol & 0xFFFF, where)
            self.require(form != 1 or self.texts[symbol >> 16 : (symbol >> 16) + (symbol & 0xFFFF)] == bytes((escape & 0xFF,)), where)

    def check_window(self, total, offset, size, shift, where):
        """Some of the bytes of an integer with `bits`: at most 64 bits after the shift."""
        self.require(1 <= size <= 9 and 0 <= offset and offset + size <= total <= 64, where)
        self.require((size == 9) <= shift & 0xFF < 8 and shift >> 8 in (0, 1), where)

    def check_special(self, int op, words, at):
        """Check operands whose meaning depends on others."""
        where = f"instruction {at}"
        if op == OP_INTEGER:
            self.require(1 <= words[1] <= 8 or (words[1] == 0 and _is_numeral(words[3])), where)
        elif op == OP_PEEK:
            self.require(1 <= words[1] <= 8, where)
        elif op == OP_HOLE:
            self.require(1 <= words[3] <= 128, where)
        elif op == OP_FIXED:
            self.check_fixed(words[1], words[2], where)
        elif op == OP_BRANCH or op == OP_WIDE_BRANCH:
            self.require(0 <= words[1] <= 7, where)
            if op == OP_WIDE_BRANCH and words[3] == _NONE:
                self.span(words[4], 2, where)
        elif op == OP_WIDE_DECIMAL:
            self.require(1 <= words[2] <= 128, where)
        elif op == OP_ARITHMETIC:
            self.require(X_ADD <= words[1] <= X_RIGHT, where)
        elif op == OP_FLOAT:
            self.require(words[1] in (4, 8), where)
        elif op == OP_BYTES or op == OP_REPEAT:
            self.require(0 <= words[1] <= 8, where)
            self.require(words[1] != 1 or words[2] >= 0, where)
            if op == OP_BYTES:
                self.require(all(code == 0 or self.is_code(code) for code in (words[3], words[6])), where)
            if words[1] == 2:
                self.check_expression(words[2], where)
            elif words[1] == 3:
                self.check_prefix(words[2], where)
            elif words[1] == 8:
                number, behind = self.span(words[2], 2, where)
                self.check_prefix(number, where)
                if behind:
                    self.check_prefix(behind, where)
            elif words[1] == 7 and op == OP_BYTES:
                self.check_ended(words[2], where)
            elif words[1] == 4 or words[1] == 7:
                self.check_symbol(words[2], where)
                self.require(words[2] & 0xFFFF, where)
            elif words[1] == 6:
                self.require(op == OP_REPEAT, where)
                symbol, width, big, least, most, start, size = self.span(words[2], 7, where)
                self.check_symbol(symbol, where)
                self.require(symbol & 0xFFFF and 1 <= width <= 8 and big in (0, 1) and 0 <= least <= start <= most, where)
            elif words[1] == 5 and op == OP_REPEAT:
                self.require(0 <= words[2] < self.registers, where)
            elif words[1] == 5:
                self.require(0 <= words[2] < 1 << 39, where)
            if op == OP_REPEAT and words[1] == 1:
                self.require(words[2] <= 1 << 16, where)
        elif op == OP_WINDOW:
            self.check_window(words[1], words[2], words[3], words[4], where)
        elif op == OP_SEEK:
            self.require(words[1] in (0, 1, 2), where)
            if words[1] == 2:
                self.check_expression(words[2], where)
        elif op == OP_BITS:
            low, width = words[1] >> 8, words[1] & 0xFF
            self.require(0 <= low < 64 and 1 <= width and low + width <= 64 and words[2] in (0, 1, 2, 3), where)
            if words[2] == 3:
                self.check_mapping(words[3], words[6], where)
            elif words[6] != _NONE:
                self.require(self.columns[words[6]][0] in (_COLUMN_KINDS["B"] if words[2] == 0 else _INTEGERS), where)
        elif op == OP_MAPPING or op == OP_PACK_MAPPED:
            self.check_mapping(words[1], words[4], where)
        elif op == OP_COMPUTE:
            self.require(words[2] in (1, 2, 3), where)
            if words[4] != _NONE:
                self.require(self.columns[words[4]][0] in _COLUMN_KINDS["IBY"[words[2] - 1]], where)
        elif op == OP_PACK_BYTES or op == OP_PACK_TEXT:
            self.require(words[1] >= _NONE, where)
        elif op == OP_PACK_OPEN:
            if words[2] >> 16:
                for rules in self.span((words[2] >> 16) - 1, 2, where):
                    self.check_D(rules, at, where)
            self.require(words[5] in (0, 1, 2), where)
            self.require(words[4] == _NONE if words[5] else (words[3] == _NONE) == (words[4] == _NONE), where)
            if words[5] == 1:
                names = self.counted(words[6], 1, where)
                self.require(len(names) >= self.tables[words[1] + 3], where)
                for (symbol,) in names:
                    self.check_symbol(symbol, where)
        elif op == OP_JSON_DOCUMENT:
            self.require(0 <= words[1] <= 1 << 20, where)
        elif op == OP_JSON_FLOAT:
            self.require(words[1] in (32, 64), where)
        elif op == OP_JSON_OPEN:
            self.span(words[1], 4, where)
            self.require(words[5] in (0, 1, 2), where)
            self.require(words[4] == _NONE if words[5] else (words[3] == _NONE) == (words[4] == _NONE), where)
        elif op == OP_CHARSET:
            self.span(words[2], 4, where)
        elif op == OP_SPELLING:
            self.require(words[2] in (0, 1) and words[3] >= 0 and words[4] >= 0, where)
            if words[5] != _NONE:
                self.check_automaton(words[5], where)
        elif op == OP_MATCH:
            if words[3] != OK:
                self.check_operand("K", words[3], 0, (), where)
            for symbol, kind, value in self.counted(words[2], 3, where):
                self.check_symbol(symbol, where)
                self.require(kind in (0, 1, 2, 3), where)
                if kind == 3:
                    self.check_symbol(value, where)
                if words[5] != _NONE and kind > 0:
                    self.require(self.columns[words[5]][0] in _COLUMN_KINDS["IBY"[kind - 1]], where)
        elif op == OP_PROTO_INTEGER:
            self.require(0 <= words[2] <= 16, where)
            if words[6] != _NONE:
                self.require(self.columns[words[6]][0] in _COLUMN_KINDS["B" if words[2] == 16 else "I"], where)
        elif op == OP_PROTO_FLOAT:
            self.require(words[2] in (32, 64), where)
        elif op == OP_ATTEMPT:
            self.require(0 <= words[5] < self.registers, where)
            for (column,) in self.counted(words[4], 1, where):
                self.require(0 <= column < len(self.columns), where)

    def fixed(self, start, where):
        """The entries of a table of fixed numbers, by kind."""
        parts = []
        _, *counts = self.span(start, 6, where)
        start += 6
        for count, width in zip(counts, (4, 4, 5, 7, 3)):
            self.require(count >= 0, where)
            words = self.span(start, count * width, where)
            parts.append([words[n : n + width] for n in range(0, len(words), width)])
            start += count * width
        return parts

    def check_fixed(self, start, size, where):
        columns, registers, constants, bits, texts = self.fixed(start, where)
        self.require(0 <= size < 1 << 32, where)
        for offset, shift, signed, *_ in columns + registers + constants + [(*entry[:2], 1) for entry in bits]:
            self.require(shift in (0, 32, 48, 56) and (signed or shift) and 0 <= offset <= size - (64 - shift) // 8, where)
        for _, shift, signed, column in columns:
            self.check_operand("I", column, 0, (), where)
            bits_of = 8 << self.columns[column][0]
            self.require(self.columns[column][0] <= KIND_INT64 and bits_of >= 64 - shift + (not signed), where)
        places = [column for *_, column in columns]
        parents = {self.columns[column][1] for column in places}
        self.require(len(set(places)) == len(places) and len(parents) <= 1 and _NONE not in parents, where)
        for *_, code in constants:
            self.check_operand("K", code, 0, (), where)
        for *_, register in registers:
            self.check_operand("R", register, 0, (), where)
        for _, _, low, width, form, register, column in bits:
            self.require(low >= 0 and 1 <= width <= 64 - low and form in (0, 1, 2) and (form != 1 or width < 64), where)
            self.check_operand("r", register, 0, (), where)
            self.check_operand("i" if form else "b", column, 0, (), where)
        for offset, length, column in texts:
            self.require(0 <= offset <= size and 0 <= length <= size - offset, where)
            self.check_operand("Y", column, 0, (), where)

    def span(self, start, size, where):
        """Words of the tables, checked to exist."""
        self.require(0 <= start and size >= 0 and start + size <= len(self.tables), where)
        return self.tables[start : start + size]

    def counted(self, start, width, where):
        """The entries of a table that begins with their number."""
        (count,) = self.span(start, 1, where)
        words = self.span(start + 1, count * width, where)
        return [words[n : n + width] for n in range(0, len(words), width)]

    def check_automaton(self, start, where):
        """Check a table: whether the empty text matches; states, classes, the class of each byte; then by state and class the next state, and whether it accepts."""
        empty, states, classes = self.span(start, 3, where)
        self.require(empty in (0, 1) and 1 <= states <= 1 << 16 and 1 <= classes <= 256, where)
        self.require(all(_NONE <= each < classes for each in self.span(start + 3, 256, where)), where)
        rows = self.span(start + 259, states * classes, where)
        self.require(all(_NONE <= each < 2 * states for each in rows), where)

    def check_symbol(self, symbol, where):
        self.require(symbol >= 0 and (symbol >> 16) + (symbol & 0xFFFF) <= len(self.texts), where)

    def check_mapping(self, start, column, where):
        """Check a table of wire values and meanings, which must fit the column."""
        shift, _, places = self.span(start, 3, where)
        self.require(52 <= shift <= 63 and places == 1 << 64 - shift, where)
        words = self.span(start + 3, 3 * places, where)
        for kind, value in zip(words[1::3], words[2::3]):
            self.require(kind == -1 or 0 <= kind < 16, where)
            kind = kind if kind == -1 else kind & 7
            self.require(kind in (-1, 0, 1, 2, 3), where)
            if kind == 3:
                self.check_symbol(value, where)
            if column != _NONE and kind > 0:
                self.require(self.columns[column][0] in _COLUMN_KINDS["IBY"[kind - 1]], where)

    def is_code(self, value):
        return value in (IRREGULAR, TRUNCATED) or FIRST_CODE <= value < 1 << 16

    def check_W(self, start, at, where):
        null, other, shift, _, places = self.span(start, 5, where)
        self.require(52 <= shift <= 63 and places == 1 << 64 - shift, where)
        words = self.span(start + 5, 2 * places, where)
        for target in (null, other, *words[1::2]):
            self.require(target == _NONE or at < target < self.count, where)

    def check_O(self, start, at, where):
        for code, symbol in self.counted(start, 2, where):
            self.require(code == TRUNCATED or FIRST_CODE <= code, where)
            self.check_symbol(symbol, where)

    def check_G(self, start, at, where):
        for target in self.span(start, 9, where):
            self.require(target == _NONE or at < target < self.count, where)

    def check_V(self, start, at, where):
        self.counted(start, 2, where)

    def check_D(self, start, at, where):
        *_, count = self.span(start, 4, where)
        self.span(start + 4, 2 * count, where)

    def check_H(self, start, at, where):
        self.require(self.span(start, 1, where)[0] >= 0, where)
        for number, wire, slot, form, rivals in self.counted(start + 1, 5, where):
            self.require(1 <= number < 1 << 29 and wire in (0, 1, 2, 3, 5) and 0 <= slot < self.slots and form in (0, 1, 2), where)
            self.require(wire != 3 or form, where)
            for other, kind in self.counted(rivals, 2, where) if rivals != _NONE else ():
                self.require(0 <= other < self.slots and kind in (0, 2), where)

    def check_expression(self, start, where):
        """Check that operations end, jumps lead forward within them, and the stack neither underflows nor overflows."""
        at, depths = start, {start: 0}
        while True:
            self.require(0 <= at and at + 2 <= len(self.expressions) and at in depths, where)
            op, argument = self.expressions[at], self.expressions[at + 1]
            held, op = op & ~(X_WITH_CONST - 1), op & (X_WITH_CONST - 1)
            self.require(0 <= op < X_COUNT and (not held or op in _TWO_VALUES and held in (X_WITH_CONST, X_WITH_LOAD, X_WITH_HERE)), where)
            depth = depths[at]
            if op in _EXPRESSION_REGISTERS or held in (X_WITH_LOAD, X_WITH_HERE):
                self.require(0 <= argument < self.registers, where)
            elif op == X_IN:
                self.counted(argument, 1, where)
            elif op == X_KNOWN:
                for (symbol,) in self.counted(argument, 1, where):
                    self.check_symbol(symbol, where)
            elif op == X_PART:
                self.check_operand("R", self.span(argument, 2, where)[0], start, (), where)
            elif op == X_RANGE_NAME:
                for *_, symbol in self.counted(argument, 5, where):
                    self.check_symbol(symbol, where)
            elif op == X_END:
                self.require(depth == 1 and max(depths) == at, where)
                return
            needed, behind, jumped = _EFFECTS.get(op, (2, -1, None) if op in _TWO_VALUES and not held else (1, 0, None))
            self.require(depth >= needed and depth + behind < STACK, where)
            if jumped is not None:
                self.require(argument > at and (argument - start) % 2 == 0, where)
                self.require(depths.setdefault(argument, depth + jumped) == depth + jumped, where)
            if op != X_JUMP:
                self.require(depths.setdefault(at + 2, depth + behind) == depth + behind, where)
            at += 2

    def check_registers(self):
        """Check that pointers, positions and saved ends are only read from registers that nothing else is written to."""
        classes = {}
        for at in range(0, self.count * WIDTH, WIDTH):
            words = self.code[at : at + WIDTH]
            for place, kind in WRITERS.get(words[0], {}).items():
                for register in (words[place], words[place] + 1)[: 2 if kind in ("save", "wide") else 1]:
                    self.require(register < 0 or classes.setdefault(register, kind) == kind, f"register {register} has two meanings")
            for register in self.fixed_registers(words):
                self.require(register < 0 or classes.setdefault(register, "value") == "value", f"register {register} has two meanings")
        for at in range(0, len(self.expressions), 2):
            if self.expressions[at] == X_PART:
                register = self.tables[self.expressions[at + 1]]
                self.require(classes.setdefault(register, "bytes") == "bytes", f"register {register} has two meanings")
        for at in range(self.count):
            words = self.code[at * WIDTH : (at + 1) * WIDTH]
            for place, kind in READERS.get(words[0], {}).items():
                self.require(words[place] < 0 or classes.get(words[place]) == kind, f"register {words[place]} is no {kind}")
        for at in range(0, len(self.expressions), 2):
            if self.expressions[at] == X_HERE or self.expressions[at] >= X_WITH_HERE:
                self.require(classes.get(self.expressions[at + 1]) == "start", f"expression at {at}")
            elif self.expressions[at] == X_TEXT:
                self.require(classes.get(self.expressions[at + 1]) == "bytes", f"expression at {at}")

    def fixed_registers(self, words):
        """The registers that a fixed run writes."""
        if words[0] != OP_FIXED:
            return []
        _, registers, _, bits, _ = self.fixed(words[1], "a run")
        return [entry[3] for entry in registers] + [entry[5] for entry in bits]

    def check_depth(self):
        """Check how deep calls are nested; they lead forward, so there is no recursion."""
        depths = {}
        for at in sorted(self.calls, reverse=True):
            for target in self.calls[at]:
                below = [depth for place, depth in depths.items() if place >= target]
                depths[at] = max(depths.get(at, 0), 1 + max(below, default=0))
        self.require(max(depths.values(), default=0) <= _CALL_DEPTH, "calls nested too deep")
