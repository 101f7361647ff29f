"""Translates Kaitai's expressions to those of specs: names by their place, methods by the kind of their object."""

from dataclasses import dataclass
from typing import assert_never

from wireloom.importing.ksy import expressions as tree
from wireloom.importing.ksy.kinds import (
    UNARY,
    Entry,
    Float,
    Integer,
    Kind,
    Listed,
    Numbers,
    Octets,
    Record,
    Scope,
    Stream,
    Text,
    Translation,
    Truth,
    Union,
    Unknown,
    View,
    Word,
)
from wireloom.importing.ksy.scopes import AT_END, IO_SIZE, UntranslatableError, direct, reach, rebased
from wireloom.importing.ksy.sizes import bits_of, size_of, size_of_name
from wireloom.importing.naming import field_name

_LEVELS = {"or": 1, "and": 2, "|": 5, "^": 6, "&": 7, "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10}
_NOT, _COMPARISON = 3, 4
_CHOICE = 0


@dataclass(frozen=True, slots=True)
class Place:
    """The context of an expression: its struct, and the meaning of `_` and `_index`."""

    scope: Scope
    view: View
    element: Translation | None = None


def translate(text: str, place: Place) -> Translation:
    """Translate the text of an expression; raises UntranslatableError or SyntaxFlaw."""
    return translated(tree.parse(text), place)


def translated(node: tree.Tree, place: Place) -> Translation:
    """Translate a parsed expression."""
    match node:
        case tree.Literal(value=bool() as value):
            return Translation("true" if value else "false", Truth(), literal=value)
        case tree.Literal(value=int() as value):
            return Translation(
                str(value) if value < 1 << 16 else f"0x{value:X}", Integer(value >= 1 << 63), literal=value
            )
        case tree.Literal(value=value):
            return _text(str(value))
        case tree.Real(text=text):
            raise UntranslatableError(
                "fraction", f"{text} is a fraction, but expressions have only integers", "compare scaled"
            )
        case tree.Template():
            raise UntranslatableError(
                "text-function", "a text with values in it", "compute it in the program that reads the records"
            )
        case tree.Items():
            return _items(node)
        case tree.Name():
            return _name(node.name, place, place.view)
        case tree.Member():
            return _member(node, place)
        case tree.Element():
            return _element(node, place)
        case tree.Cast():
            return _cast(translated(node.of, place), node.type, place)
        case tree.SizeOf():
            return _size_of_type(node, place)
        case tree.EnumWord():
            return _word(node, place)
        case tree.Unary():
            return _unary(node, place)
        case tree.Binary():
            return _binary(node, place)
        case tree.Choice():
            return _choice(node, place)
        case _:
            assert_never(node)


def _text(value: str) -> Translation:
    if "'" in value:
        raise UntranslatableError(
            "quote", f"the text {value!r} contains a quote, which texts in expressions cannot have"
        )
    return Translation(f"'{value}'", Text(value.isascii()), literal=value)


def _items(node: tree.Items) -> Translation:
    values = [each.value for each in node.items if isinstance(each, tree.Literal)]
    octets = [each for each in values if isinstance(each, int) and 0 <= each < 256]
    if len(octets) == len(node.items):
        return Translation(f"'{bytes(octets).hex()}'", Octets(), literal=bytes(octets).hex())
    raise UntranslatableError("list", "a list of values in an expression", "compare with each value")


def _name(name: str, place: Place, view: View) -> Translation:
    if name == "_":
        if place.element is None:
            raise UntranslatableError("element", "_ is not an element here")
        return place.element
    if name == "_index":
        return Translation("index", Integer())
    if name == "_root":
        return Translation("", Record(direct(view.scope.root)))
    if name == "_parent":
        parent = view.parent
        if parent is None:
            raise UntranslatableError(
                "parent", "the outermost type has no _parent here", "pass the value as a parameter"
            )
        return Translation("", Record(parent))
    if name == "_io":
        return Translation("", Stream(view))
    if name in ("_sizeof", "_bitsizeof"):
        return _static_size(size_of(view.scope.definition), view.scope.definition.name)
    return _of_view(name, place, view)


def _static_size(size: int | None, what: str) -> Translation:
    if size is None:
        raise UntranslatableError("sizeof", f"the size of {what} is not the same in all records")
    return Translation(str(size), Integer(), literal=size)


def _of_view(name: str, place: Place, view: View) -> Translation:
    """Translate a member of the struct that a view shows."""
    scope = view.scope
    if name in scope.definition.instances and scope.make_instance is not None and name not in scope.kinds:
        scope.make_instance(name)
    if name in scope.views:
        return _elsewhere(scope.views[name], view, place)
    if name in scope.dropped:
        raise UntranslatableError("follow-on", f"{name} was not imported")
    kind = scope.kinds.get(name)
    if kind is None:
        if name in scope.definition.names:
            raise UntranslatableError(
                "later", f"{name} is read after this", "move it before this, or compute this in an outer struct"
            )
        raise UntranslatableError("name", f"{scope.definition.name} has no {name}")
    path = f"{view.prefix}{field_name(name)}"
    if isinstance(kind, Word) and not kind.named:
        path = f"{path}_number"
    text = reach(place.scope, view.owner, path, kind)
    if isinstance(kind, Word) and not kind.is_closed and (view.prefix or view.scope is not place.scope):
        kind = Word(kind.enum, named=False)  # only expressions in the same struct may use its words
    return Translation(text, rebased(kind, view, field_name(name)))


def _elsewhere(value: Translation, view: View, place: Place) -> Translation:
    """Translate a name that stands for something elsewhere, seen through a view of the struct that has the name."""
    kind = value.kind
    if isinstance(kind, Record) and kind.view.owner is view.scope and view.prefix:
        inner = kind.view
        return Translation("", Record(View(inner.scope, view.owner, view.prefix + inner.prefix, inner.up)))
    if isinstance(kind, Record | Union):
        return value
    return Translation(reach(place.scope, view.owner, f"{view.prefix}{value.text}", kind), kind)


def _member(node: tree.Member, place: Place) -> Translation:
    if node.name == "_sizeof" and node.arguments is None:
        return _size_of_value(node.of, place)
    of = translated(node.of, place)
    match of.kind:
        case Record(view=view):
            if node.arguments is not None:
                raise UntranslatableError("method", f"the method {node.name}")
            return _name(node.name, place, view)
        case Union(cases=cases):
            return _of_union(node.name, cases, place)
        case Stream():
            return _of_stream(node.name, of.kind, place)
        case _:
            return _method(of, node, place)


def _size_of_value(node: tree.Tree, place: Place) -> Translation:
    holder, name = (node.of, node.name) if isinstance(node, tree.Member) else (tree.Name("_self"), "")
    view = place.view
    if isinstance(node, tree.Name) and node.name not in ("_root", "_parent"):
        name = node.name
    elif isinstance(node, tree.Member) and isinstance(of := translated(holder, place).kind, Record):
        view = of.view
    elif isinstance(of := translated(node, place).kind, Record):
        return _static_size(size_of(of.view.scope.definition), of.view.scope.definition.name)
    found = next((each for each in view.scope.definition.seq if each.name == name), None)
    bits = bits_of(found, view.scope.definition) if found else None
    return _static_size(None if bits is None else -(-bits // 8), name)


def _of_union(name: str, cases: tuple[Kind, ...], place: Place) -> Translation:
    records = [each for each in cases if isinstance(each, Record)]
    found = [_name(name, place, each.view) for each in records if name in each.view.scope.kinds]
    if not found or len(records) != len(cases) or len(found) != len(records):
        raise UntranslatableError("cast", f"some cases have no {name}", "make it a member of all cases")
    return found[0]


def _of_stream(name: str, stream: Stream, place: Place) -> Translation:
    scope, here = stream.view.scope, place.scope
    if stream.view.prefix or (scope.stream is not here.stream):
        raise UntranslatableError("stream", f"{name} of the region of another struct")
    if name == "eof" and AT_END in here.kinds and place.element is not None:
        return Translation(AT_END, Truth())
    if name == "eof":
        return Translation("here >= size", Truth(), _COMPARISON)
    if name not in ("size", "pos"):
        raise UntranslatableError("stream", f"{name} of a stream")
    start = here.stream
    if start is here:
        return Translation("size" if name == "size" else "here", Integer())
    total = stream_size(here)
    return (
        Translation(total, Integer())
        if name == "size"
        else Translation(f"{total} - size + here", Integer(), _LEVELS["-"])
    )


def stream_size(place: Scope) -> str:
    """The name of a hidden field with the size of the region that contains the expression; adds it if it is missing."""
    start = place.stream
    if IO_SIZE not in start.kinds:
        start.kinds[IO_SIZE] = Integer()
        at = next((number for number, each in enumerate(start.entries) if each.name != "mark"), len(start.entries))
        start.entries.insert(at, Entry(IO_SIZE, {"compute": "size", "type": "int64", "hidden": True}))
    return reach(place, start, IO_SIZE, Integer())


def _method(of: Translation, node: tree.Member, place: Place) -> Translation:
    name, kind = node.name, of.kind
    match kind, name:
        case Octets(), "length" | "size":
            return Translation(f"len({of.text})", Integer())
        case Text(octets=True), "length":
            return Translation(f"len({of.text})", Integer())
        case Listed(), "size" | "length":
            return Translation(f"count({of.text})", Integer())
        case Word(), "to_i":
            return Translation(of.text, Integer())
        case Truth(), "to_i":
            return Translation(f"{of.within(_CHOICE + 1)} ? 1 : 0", Integer(), _CHOICE)
        case Text(), "to_i" if not node.arguments:
            return Translation(f"decimal({of.text}, 63)", Integer())
        case Text(), "substring" if node.arguments and len(node.arguments) == 2:
            first, last = (translated(each, place) for each in node.arguments)
            return Translation(f"slice({of.text}, {first.text}, {last.text})", Text(kind.octets))
        case Octets(), "first":
            return Translation(f"int(slice({of.text}, 0, 1), 'big')", Integer())
        case Octets(), "last":
            return Translation(f"int(slice({of.text}, -1), 'big')", Integer())
        case Listed(), "first" if kind.numbers is not None:
            return _element_at(of, Translation("0", Integer(), literal=0))
        case Listed(), "last" if kind.numbers is not None:
            return _element_at(of, Translation(f"count({of.text}) - 1", Integer(), _LEVELS["-"]))
        case Listed(), _:
            raise UntranslatableError(
                "element-by-place", f"{name} of a list", "expressions can only count or sum up lists"
            )
        case Text() | Octets() | Integer() | Float(), _:
            raise UntranslatableError(
                "text-function", f"the function {name}", "compute it in the program that reads the records"
            )
        case _:
            raise UntranslatableError("method", f"{name} of {_named(kind)}")


def _named(kind: Kind) -> str:
    return kind.what if isinstance(kind, Unknown) else type(kind).__name__.lower()


def _element(node: tree.Element, place: Place) -> Translation:
    return _element_at(translated(node.of, place), translated(node.index, place))


def _element_at(of: Translation, index: Translation) -> Translation:
    if isinstance(of.kind, Octets):
        after = str(index.literal + 1) if isinstance(index.literal, int) else f"{index.within(9)} + 1"
        return Translation(f"int(slice({of.text}, {index.text}, {after}), 'big')", Integer())
    if isinstance(of.kind, Listed) and of.kind.numbers is not None:
        return _number_at(of, of.kind.numbers, of.kind.element, index)
    raise UntranslatableError(
        "element-by-place", "a list element by its index", "expressions can only count or sum up lists"
    )


def _number_at(of: Translation, numbers: Numbers, element: Kind, index: Translation) -> Translation:
    """A number of a list, cut from the list's bytes, which a second field at the same offset holds."""
    octets = _octets_of(numbers)
    size = numbers.size
    if isinstance(index.literal, int):
        first, after = str(index.literal * size), str(index.literal * size + size)
    else:
        first = f"{index.within(10)} * {size}" if size > 1 else index.text
        after = f"({index.within(9)} + 1) * {size}" if size > 1 else f"{index.within(9)} + 1"
    path = of.text.removesuffix(numbers.field) + octets
    text = f"int(slice({path}, {first}, {after}), '{numbers.order}')"
    kind = Word(element.enum, named=False) if isinstance(element, Word) else element
    if not numbers.is_signed:
        return Translation(text, kind)
    sign = f"0x{1 << (8 * size - 1):X}"
    return Translation(f"({text} ^ {sign}) - {sign}", kind, _LEVELS["-"])


def _octets_of(numbers: Numbers) -> str:
    home, name = numbers.home, f"{numbers.field}_octets"
    if home.entry(name) is None:
        listed = home.entry(numbers.field)
        if listed is None or not isinstance(listed.body, dict):
            raise UntranslatableError("element-by-place", "a list element by its index")
        at = home.entries.index(listed)
        body = {"type": f"bytes(count({numbers.field}) * {numbers.size})"}
        if "at" in listed.body:
            body |= {"at": listed.body["at"], "from": listed.body["from"]}
        else:
            home.entries.insert(at, Entry("mark", f"{numbers.field}_begin"))
            at += 1
            body |= {"at": "0", "from": f"{numbers.field}_begin"}
        if "when" in listed.body:
            body["when"] = listed.body["when"]
        body["doc"] = f"The bytes of {numbers.field}, in which expressions find one by its place."
        home.entries.insert(at + 1, Entry(name, body, listed.origin))
    return name


def _cast(of: Translation, type: str, place: Place) -> Translation:
    match of.kind:
        case Union(cases=cases):
            wanted = place.scope.definition.named(tuple(type.split("::")))
            for each in cases:
                if isinstance(each, Record) and each.view.scope.definition is wanted:
                    return Translation(of.text, each)
            raise UntranslatableError("cast", f"no case is {type}")
        case _:
            return of


def _size_of_type(node: tree.SizeOf, place: Place) -> Translation:
    bits = size_of_name(node.type, place.scope.definition)
    if bits is None:
        raise UntranslatableError("sizeof", f"the size of {node.type} is not the same in all records")
    size = bits if node.bits else -(-bits // 8)
    return Translation(str(size), Integer(), literal=size)


def _word(node: tree.EnumWord, place: Place) -> Translation:
    enum = place.scope.definition.enum(node.path)
    number = enum.number(node.word) if enum else None
    if enum is None or number is None:
        raise UntranslatableError("enum", f"there is no {'::'.join((*node.path, node.word))}")
    return Translation(str(number), Word(enum, named=False), literal=number)


def _unary(node: tree.Unary, place: Place) -> Translation:
    operand = translated(node.operand, place)
    if node.operator == "not":
        return Translation(f"not {operand.within(_NOT)}", Truth(), _NOT)
    if node.operator == "-" and isinstance(operand.literal, int):
        return Translation(f"-{operand.text}", Integer(), UNARY, literal=-operand.literal)
    return Translation(f"{node.operator}{operand.within(UNARY)}", operand.kind, UNARY)


def _binary(node: tree.Binary, place: Place) -> Translation:
    if (rest := _bytes_left(node, place)) is not None:
        return rest
    left, right = translated(node.left, place), translated(node.right, place)
    if node.operator in ("or", "and"):
        level = _LEVELS[node.operator]
        return Translation(f"{left.within(level)} {node.operator} {right.within(level + 1)}", Truth(), level)
    if node.operator not in _LEVELS:
        return _comparison(node.operator, left, right)
    if node.operator == "+" and isinstance(left.kind, Text | Octets):
        octets = isinstance(left.kind, Text) and isinstance(right.kind, Text) and left.kind.octets and right.kind.octets
        kind: Kind = Text(octets) if isinstance(left.kind, Text) else left.kind
        return Translation(f"concat({left.text}, {right.text})", kind)
    real = isinstance(left.kind, Float) or isinstance(right.kind, Float)
    if real and node.operator in ("/", "%"):
        raise UntranslatableError(
            "fraction", "a division of numbers with fractions", "compute it in the program that reads the records"
        )
    operator = "//" if node.operator == "/" else node.operator
    level = _LEVELS[node.operator]
    text = f"{left.within(level)} {operator} {right.within(level + 1)}"
    wide = any(isinstance(each.kind, Integer) and each.kind.wide for each in (left, right))
    return Translation(text, Float() if real else Integer(wide and node.operator not in ("-", ">>", "/", "%")), level)


def _bytes_left(node: tree.Binary, place: Place) -> Translation | None:
    """Translate `_io.size - _io.pos`, the rest of the region."""
    match node:
        case tree.Binary(
            operator="-",
            left=tree.Member(of=tree.Name(name="_io"), name="size"),
            right=tree.Member(of=tree.Name(name="_io"), name="pos"),
        ) if place.view.scope is place.scope:
            return Translation("size - here", Integer(), _LEVELS["-"])
        case _:
            return None


def _comparison(operator: str, left: Translation, right: Translation) -> Translation:
    sides = (left, right)
    for one, other in (sides, sides[::-1]):
        match one.kind, other.kind:
            case Word(named=True), Word(enum=enum) if isinstance(other.literal, int) and operator in ("==", "!="):
                text = f"{one.within(5)} {operator} '{enum.words[other.literal][0]}'"
                return Translation(text, Truth(), _COMPARISON)
            case (Text() | Octets(), _) if operator not in ("==", "!="):
                raise UntranslatableError("order-of-texts", f"{operator} of texts or bytes, which specs do not order")
            case Listed(), _:
                raise UntranslatableError("list", "a comparison of lists")
            case _:
                pass
    return Translation(f"{left.within(5)} {operator} {right.within(5)}", Truth(), _COMPARISON)


def _choice(node: tree.Choice, place: Place) -> Translation:
    condition, this, that = (translated(each, place) for each in (node.condition, node.this, node.that))
    for each in (this, that):
        if isinstance(each.kind, Record | Union | Listed | Stream):
            raise UntranslatableError(
                "struct-value", "a choice between structs or lists", "read both in the program that reads the records"
            )
    kind = this.kind
    if isinstance(kind, Word):
        kind = Word(kind.enum, named=False)
    text = f"{condition.within(1)} ? {this.within(1)} : {that.text}"
    return Translation(text, kind, _CHOICE)
