"""Says which texts of a design are still those that EvalPlatform comes with, though only the researcher can know them.

In: a design. Out: a sentence for consent and one for contact; empty where the design has words of its own. Guaranteed:
they never stop a study, since a rehearsal needs neither; pages say them before a design is frozen and before it is
published.
"""

from hits.models.design import StudyDesign

CONSENT, CONTACT = "Consent", "Contact"


def usual_texts(design: StudyDesign) -> dict[str, str]:
    """Return what is not the study's own yet, by what it is about."""
    missing = [
        words
        for words, is_missing in [
            ("who runs the study (task.requester)", not design.task.requester),
            ("how workers reach you (task.contact)", _is_default(design, "contact")),
        ]
        if is_missing
    ]
    found = {
        CONSENT: "The text is the one that EvalPlatform comes with: let whoever approves your study read it."
        if _is_default(design, "consent")
        else "",
        CONTACT: f"Not said: {' and '.join(missing)}." if missing else "",
    }
    return {about: words for about, words in found.items() if words}


def _is_default(design: StudyDesign, field: str) -> bool:
    return bool(getattr(design.task, field) == type(design.task).model_fields[field].default)
