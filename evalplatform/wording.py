"""Write counts in sentences: 1 HIT, 2 HITs."""


def count_of(number: float, one: str, many: str = "") -> str:
    """Return a number with its noun.

    >>> count_of(1, "HIT"), count_of(2400, "HIT"), count_of(2, "reply", "replies")
    ('1 HIT', '2,400 HITs', '2 replies')
    """
    shown = f"{number:,}" if isinstance(number, int) else f"{number:,g}"
    return f"{shown} {one if number == 1 else many or one + 's'}"
