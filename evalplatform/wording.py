"""Numbers in sentences: one HIT, two HITs."""


def count_of(number: float, one: str, many: str = "") -> str:
    """count_of(1, "HIT") is "1 HIT", count_of(2400, "HIT") is "2,400 HITs", count_of(2, "reply", "replies")."""
    shown = f"{number:,}" if isinstance(number, int) else f"{number:,g}"
    return f"{shown} {one if number == 1 else many or one + 's'}"
