"""Types that no root uses: their notation is checked, but they are not part of the model."""

from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.bind.outline import all_mentioned


def check_use(draft: Draft, unused: tuple[str, ...]) -> None:
    """Warn about unused types, except those that only other unused types use."""
    led = {name: all_mentioned(draft, [name]) for name in unused}
    below = {each for name in unused for each in led[name] if name not in led.get(each, (name,))}
    for name in unused:
        if name not in below:
            place = draft.place / "types" / name
            draft.warns_entry(place, "unreachable-type", f"no root uses {name}", "use it, or drop it")
