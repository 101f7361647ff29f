# The validator of writing programs: the mirror of reading/checks.pxi, for the same reasons.
#
# WRITTEN has a letter for each operand. The letters are those of reading/checks.pxi, with columns that are read:
#   I integer  F float  B boolean  Y bytes  L list  U struct  A alternatives or struct  o any column
#   V interned table  H, W, G, D tables: of a mapping, of a switch, of kinds, of ext types

WRITTEN = {
    E_RETURN: "N",
    E_ENTER: "rSE",
    E_LOAD: "ONRNN",
    E_COMPUTE: "XR",
    E_WHEN: "XT",
    E_BRANCH: "NRrNTT",
    E_BRANCH_IN: "R#T",
    E_ARITHMETIC: "NRRrNT",
    E_CONSTANT: "JN",
    E_INTEGER: "INNN",
    E_INTEGERS: "N",
    E_PUT: "RNNN",
    E_FLOAT: "FNN",
    E_BOOLEAN: "B",
    E_BYTES: "YNNNNN",
    E_ENDED: "YNN",
    E_BLOCKS: "YNN",
    E_HOLD: "NR",
    E_PATCH: "RRNNNN",
    E_MARK: "RR",
    E_PAD: "NR",
    E_FILL: "XN",
    E_CHECKSUMS: "NR",
    E_PASSES: "CN",
    E_REPEAT: "LNCRN",
    E_REPEAT_BLOCKS: "LNNCR",
    E_SIZE_BEGIN: "NR",
    E_SIZE_END: "NR",
    E_MAP: "RNNR",
    E_BITS: "RRNNN",
    E_BITS_MAPPED: "RRNN",
    E_PRESENT: "O",
    E_ABSENT: "OT",
    E_ONLY: "UO",
    E_KINDS: "UN",
    E_SWITCH: "NR",
    E_JUMP: "T",
    E_FAIL: "",
    E_ACCEPT: "RN",
    E_CHOOSE: "RN",
    E_PACK_INTEGER: "INNN",
    E_PACK_PUT: "RNN",
    E_PACK_FLOAT: "FN",
    E_PACK_BOOLEAN: "B",
    E_PACK_BYTES: "YNN",
    E_NULL: "ONTJN",
    E_PACK_OPEN: "UYYNN",
    E_PACK_REPEAT: "LCRN",
    E_PACK_COUNT: "R",
    E_PACK_MEMBERS: "R",
    E_PACK_EXT: "YN",
    E_PROTO_INTEGER: "NINNNN",
    E_PROTO_PUT: "NRNNNN",
    E_PROTO_FLOAT: "NNFN",
    E_PROTO_BYTES: "NYNN",
    E_PROTO_REPEAT: "LCR",
    E_PROTO_BEGIN: "NRR",
    E_PROTO_END: "RR",
    E_PROTO_TABLES: "Q",
    E_PROTO_ENTRY: "NQYN",
    E_PROTO_DUMP: "NQ",
    E_PROTO_SEGMENT: "R",
    E_PROTO_ORDER: "N",
    E_PACKED: "RNr",
    E_JSON_INTEGER: "INNNJN",
    E_JSON_PUT: "RNN",
    E_JSON_FLOAT: "FNJN",
    E_JSON_BOOLEAN: "BJN",
    E_JSON_TEXT: "YJN",
    E_JSON_BYTES: "YNNJN",
    E_JSON_RAW: "YN",
    E_JSON_REPEAT: "LCRNJN",
    E_JSON_OPEN: "UYYNN",
    E_JSON_CLOSE: "RNN",
    E_NOTHING: "N",
    E_UNIQUE: "LY",
    E_DOUBT: "",
    E_AGREES: "ONRrN",
    E_AGREES_HELD: "IRNNNN",
}
_LOADED = {
    LOAD_INTEGER: _INTEGERS,
    LOAD_BOOLEAN: frozenset((KIND_BOOLEAN,)),
    LOAD_SYMBOL: frozenset((KIND_BYTES,)),
    LOAD_SIZE: frozenset((KIND_BYTES,)),
    LOAD_COUNT: frozenset((KIND_LIST,)),
    LOAD_PRESENT: frozenset(range(KIND_COUNT)),
    LOAD_CHOICE: frozenset((KIND_STRUCT,)),
    LOAD_REAL: frozenset((KIND_FLOAT, KIND_DOUBLE)),
    LOAD_SUM: frozenset((KIND_LIST,)),
}
_SIZES = frozenset(range(1, 9))


def _is_held(held, size, sign, order):
    """Whether a number of the form fills the reserved bytes."""
    if size:
        return size in _SIZES and held == size and sign in (0, 1) and order in (0, 1)
    form, digits = order >> 8 & 0xFF, order >> 16
    if not _is_numeral(order) or not (6 <= form <= 11 or form >= 15) or sign not in (0, 1):
        return False
    return held == digits_width(form, digits, sign)


class WritingChecker(Checker):
    """Checks one writing program."""

    def check_instruction(self, at, words):
        cdef int op
        self.require(words[0] in WRITTEN, f"instruction {words[0]} at {at}")
        op = words[0]
        for letter, value, place in zip(WRITTEN[op], words[1:], range(1, WIDTH)):
            if letter == "O":
                self.require(0 <= value < len(self.columns), f"column {value} of instruction {at}")
            else:
                self.check_operand(letter, value, at, words, place)
        self.check_writing(op, words, at)

    def check_writing(self, int op, words, at):
        """Check operands whose meaning depends on others, and tables."""
        where = f"instruction {at}"
        if op in (E_LOAD, E_AGREES):
            self.require(self.columns[words[1]][0] in _LOADED.get(words[2], ()), where)
            if words[2] == LOAD_SUM:
                self.require(op == E_LOAD and 0 <= words[4] < len(self.columns), where)
                self.require(self.columns[words[4]][0] in _INTEGERS and self.is_below(words[4], self.columns[words[1]][2]), where)
        elif op == E_BRANCH:
            self.require(0 <= words[1] <= 7, where)
        elif op == E_ARITHMETIC:
            self.require(X_ADD <= words[1] <= X_RIGHT, where)
        elif op in (E_INTEGER, E_PUT):
            self.require(words[2] in _SIZES or (words[2] == 0 and _is_numeral(words[4])), where)
        elif op == E_INTEGERS:
            for column, *form in self.counted(words[1], 4, where):
                self.check_operand("I", column, at, words, 1)
                self.require(form[0] in _SIZES, where)
        elif op in (E_SIZE_BEGIN, E_SIZE_END):
            self.check_prefix(words[1], where)
        elif op in (E_BYTES, E_REPEAT):
            prefix = words[3 if op == E_BYTES else 5]
            if prefix:
                self.check_prefix(prefix, where)
            if op == E_BYTES:
                self.require(_NONE <= words[5] < 1 << 39 and words[6] in (0, 1), where)
            if op == E_BYTES and words[4] != _NONE:
                self.check_symbol(words[4], where)
                self.require(words[4] & 0xFFFF, where)
        elif op in (E_BLOCKS, E_REPEAT_BLOCKS):
            self.check_prefix(words[2], where)
            self.require(1 <= words[3] <= 1 << 62, where)
        elif op == E_ENDED:
            self.check_symbol(words[2], where)
            self.require(words[2] & 0xFFFF, where)
            self.check_ended(words[3], where)
        elif op == E_AGREES_HELD:
            self.require(words[3] <= HELD_LIMIT and _is_held(*words[3:7]), where)
        elif op == E_PATCH:
            self.require(_is_held(*words[3:7]), where)
        elif op == E_FLOAT:
            self.require(words[2] in (4, 8), where)
        elif op in (E_PROTO_FLOAT, E_PACK_FLOAT):
            self.require(words[2] in (32, 64), where)
        elif op == E_HOLD:
            self.require(1 <= words[1] <= 1 << 16, where)
        elif op == E_PAD:
            self.require(0 <= words[1] <= 1 << 31, where)
        elif op == E_FILL:
            self.require(0 <= words[2] <= 1 << 31, where)
        elif op in (E_BITS, E_BITS_MAPPED):
            low, width = words[3] >> 8 & 0xFF, words[3] & 0xFF
            self.require(words[3] >> 16 in range(4) and 1 <= width < 64 and low + width <= 64, where)
            if op == E_BITS_MAPPED:
                self.counted(words[4], 3, where)
            elif words[4]:
                self.require(1 <= words[4] <= len(self.columns), where)
                self.require(words[5] != LOAD_SUM, where)
                self.require(self.columns[words[4] - 1][0] in _LOADED.get(words[5], ()), where)
        elif op == E_MAP:
            wires = self.counted(words[3], 1, where)
            self.require(len(wires) > 0, where)
            for found in self.looked_up(words[2], where):
                self.require(found < len(wires), where)
        elif op == E_SWITCH:
            for target in self.looked_up(words[1], where):
                self.require(at < target < self.count, where)
        elif op == E_KINDS:
            self.check_kinds(words, at, where)
        elif op == E_ONLY:
            self.require(self.columns[words[2]][1] == words[1], where)
        elif op == E_ACCEPT:
            self.require(0 <= words[2] < 62, where)
        elif op == E_CHOOSE:
            self.check_cases(words, at, where)
        elif op == E_PASSES:
            places = self.counted(words[2], 2, where)
            self.require(len(places) > 0 and all(0 <= each < self.registers for pair in places for each in pair), where)
        elif op == E_CHECKSUMS:
            self.check_checksums(words[1], where)
        elif op == E_NULL:
            self.require(not words[2] or self.columns[words[1]][0] == KIND_STRUCT, where)
        elif op == E_PACK_OPEN:
            self.require(self.columns[words[2]][1] == words[1] == self.columns[words[3]][1], where)
            self.check_D(words[4], at, where)
        elif op == E_JSON_OPEN:
            self.require(self.columns[words[2]][1] == words[1] == self.columns[words[3]][1], where)
            self.span(words[4], 4, where)
        elif op == E_NOTHING:
            self.check_members(words[1], where)
        elif op == E_UNIQUE:
            self.require(self.is_below(words[2], self.columns[words[1]][2]), where)
        elif op == E_PROTO_ORDER:
            for registers in self.counted(words[1], 2, where):
                self.require(all(0 <= register < self.registers for register in registers), where)

    def is_below(self, column, above):
        """Whether a column has the rows of another one: it is that column, or a member of its struct."""
        while column >= 0 and column != above:
            column = self.columns[column][1]
        return above >= 0 and column == above

    def looked_up(self, start, where):
        """The possible results of a hash table."""
        null, other, shift, _, places = self.span(start, 5, where)
        self.require(52 <= shift <= 63 and places == 1 << 64 - shift, where)
        found = [null, other, *self.span(start + 5, 2 * places, where)[1::2]]
        return [each for each in found if each >= 0]

    def check_kinds(self, words, at, where):
        null, count = self.span(words[2], 2, where)
        self.require(null == _NONE or at < null < self.count, where)
        entries = self.span(words[2] + 2, 2 * count, where)
        for column, target in zip(entries[::2], entries[1::2]):
            self.require(0 <= column < len(self.columns) and at < target < self.count, where)

    def check_cases(self, words, at, where):
        cases = self.counted(words[2], 2, where)
        self.require(len(cases) <= 62, where)
        for target, columns in cases:
            self.require(at < target < self.count, where)
            self.check_members(columns, where)

    def check_members(self, start, where):
        """Check a list of columns; bit 32 marks alternatives."""
        for (column,) in self.counted(start, 1, where):
            alternatives, index = column >> 32, column & 0xFFFFFFFF
            self.require(alternatives in (0, 1) and index < len(self.columns), where)
            self.require(not alternatives or self.columns[index][0] == KIND_STRUCT, where)

    def check_checksums(self, start, where):
        for algorithm, first, last, register, held, *form in self.counted(start, CHECKSUM_WIDTH, where):
            self.require(algorithm < len(self.crcs) and 0 <= register < self.registers, where)
            if algorithm < 0:
                self.require(held == DIGEST, where)
            else:
                self.require(_is_held(held, *form), where)
            self.check_expression(first, where)
            self.check_expression(last, where)

    def check_registers(self):
        """Do nothing: registers hold numbers here, and every position in one is checked against the record."""
