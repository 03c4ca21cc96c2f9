"""List the emotions and intents: the 32 emotions of EmpatheticDialogues, MEED2's eight intents, and neutral.

A label's id is its index in this order, in every checkpoint that has them.
"""

EMOTIONS = tuple(
    """afraid angry annoyed anticipating anxious apprehensive ashamed caring confident content devastated disappointed
    disgusted embarrassed excited faithful furious grateful guilty hopeful impressed jealous joyful lonely nostalgic
    prepared proud sad sentimental surprised terrified trusting""".split()
)
INTENTS = (
    "agreeing",
    "acknowledging",
    "encouraging",
    "consoling",
    "sympathizing",
    "suggesting",
    "questioning",
    "wishing",
)
NEUTRAL = "neutral"

LABELS = (*EMOTIONS, *INTENTS, NEUTRAL)
LABEL_IDS = {label: number for number, label in enumerate(LABELS)}

# The same 32 emotions in the order of MoEL, MIME and EmpDG. Checkpoints of such networks have them in this order.
MOEL_EMOTIONS = tuple(
    """surprised excited annoyed proud angry sad grateful lonely impressed afraid disgusted confident terrified hopeful
    anxious disappointed joyful prepared guilty furious nostalgic jealous anticipating embarrassed content devastated
    sentimental caring trusting ashamed apprehensive faithful""".split()
)
