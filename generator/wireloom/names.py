"""Checks the names in specs: allowed characters and reserved words.

A format's name becomes a Python package, a parameter's name a keyword argument, a field's name a column, a member of
records and a name in expressions. If the wire's name does not fit, the keys `as` and `member` state another.
"""

import keyword
import re
import sys

POSITIONS = ("here", "size", "index")
EXPRESSION_WORDS = ("and", "or", "not", "in", "true", "false", "null", *POSITIONS)
API_WORDS = (
    *("data", "value", "root", "framing", "on_error", "columns", "explode", "source", "open_values", "resync"),
    *("row_budget", "message", "messages", "values", "batches"),
)
OPTION_WORDS = ("format", "path", "mode", "fields", "openvalues", "columnnameoferror", "columnnameofcorruptrecord")
PACKAGE_MODULES = ("functions",)

_FIELD = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_TYPE = re.compile(r"[A-Z][A-Za-z0-9_]*")
_LONGEST = 100  # characters in the name of a format or root, since both are in a file name
_FORMAT = re.compile(r"[a-z][a-z0-9_]*")
_CODE = re.compile(r"[a-z][a-z0-9_]*")


def capitalised(name: str) -> str:
    """`flow_key` as FlowKey, the form for types and messages."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def name_flaw(name: str) -> str:
    """What is wrong with a name for expressions; empty if nothing."""
    return f"{name} is a word of expressions" if name in EXPRESSION_WORDS else logical_name_flaw(name)


def field_name_flaw(name: str) -> str:
    """What is wrong with a field's wire name; empty if nothing."""
    if logical_name_flaw(name):
        return f"{name_flaw(name)}; `member` gives a JSON member any name"
    return f"{flaw}; {another_name(name)}" if (flaw := name_flaw(name)) else ""


def another_name(name: str) -> str:
    """The advice if a field cannot keep the name of its format."""
    return f"give the field another name, and `as: {name}` for its readers (`member: {name}` in objects)"


def logical_name_flaw(name: str) -> str:
    """What is wrong with a name for readers; empty if nothing."""
    return "" if _FIELD.fullmatch(name) else "a name has letters, digits and underscores and begins with a letter"


def type_name_flaw(name: str) -> str:
    """What is wrong with the name of a type; empty if nothing."""
    if not _TYPE.fullmatch(name):
        return "a type's name begins with a capital letter"
    return f"{name} is a word of Python" if keyword.iskeyword(name) else ""


def format_name_flaw(name: str) -> str:
    """What is wrong with the name of a format, a schema or a root; empty if nothing."""
    if not _FORMAT.fullmatch(name):
        return "the name has lower-case letters, digits and underscores and begins with a letter"
    if len(name) > _LONGEST:
        return f"files are called so; write at most {_LONGEST} letters"
    if name in PACKAGE_MODULES:
        return f"every generated package has a module {name} of its own"
    return f"{name} is a word of Python" if keyword.iskeyword(name) else ""


def package_name_flaw(name: str) -> str:
    """What is wrong with the name of the generated package; empty if nothing."""
    if not (name.isidentifier() and name.isascii()):
        return "a Python package has ASCII letters, digits and underscores in its name"
    if keyword.iskeyword(name):
        return f"{name} is a word of Python; choose another name, as my_formats"
    if name in sys.stdlib_module_names:
        return (
            f"{name} is a module of Python itself, which would be imported instead; choose another name, as my_formats"
        )
    if name == "wireloom":
        return "wireloom is the generator's own package; choose another name, as my_formats"
    return ""


def parameter_name_flaw(name: str) -> str:
    """What is wrong with the name of a parameter; empty if nothing."""
    if name in API_WORDS:
        return f"every generated function has a parameter {name} of its own"
    if name.replace("_", "").lower() in OPTION_WORDS:
        return f"{name} is an option of every format on Spark"
    if keyword.iskeyword(name):
        return f"{name} is a word of Python"
    return name_flaw(name)


def code_flaw(code: str) -> str:
    """What is wrong with an error code; empty if nothing."""
    return (
        ""
        if _CODE.fullmatch(code)
        else "a code has lower-case letters, digits and underscores and begins with a letter"
    )
