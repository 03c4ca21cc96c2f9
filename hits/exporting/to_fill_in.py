"""How texts of a bundle mark what only the researchers can say."""

PLAIN_TO_FILL_IN = "[to be filled in by the researchers]"
TO_FILL_IN = f"**{PLAIN_TO_FILL_IN}**"
