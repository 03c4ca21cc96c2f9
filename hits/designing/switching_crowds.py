"""Changes the crowd that a draft is meant for: options of the former one go, filters are unset where needed.

In: a draft, which may hold anything, and the name of the new crowd. Out: the draft with the new crowd, and what was
changed beside, in words. Guaranteed: a filter that the new crowd can't apply is never left as if it were, and one that
was unset for such a crowd comes back with its default.
"""

from collections.abc import Mapping
from typing import Any

from hits.crowds import CROWDS, options_of
from hits.models import USUAL_CROWD

UNSET: dict[str, Any] = {"countries": [], "min_approved": 0, "min_approval_percent": 0}


def switch_crowd(settings: Mapping[str, Any], name: str) -> tuple[dict[str, Any], list[str]]:
    """Return the draft as one for the crowd `name`, and sentences about what else was changed."""
    part = settings.get("crowd")
    crowd = dict(part) if isinstance(part, Mapping) else {}
    former, new = (CROWDS.get(one) for one in (str(crowd.get("name", USUAL_CROWD)), name))
    told: list[str] = []
    if new is None:
        return {**settings, "crowd": {**crowd, "name": name}}, told
    options = crowd.pop("options", {})
    known = {one.path.rpartition(".")[2] for one in options_of(new)}
    if isinstance(options, Mapping) and (gone := sorted(map(str, options.keys() - known))):
        told.append(f"Removed, because only the former one has them: {', '.join(gone)}.")
        options = {key: value for key, value in options.items() if key in known}
    if options:
        crowd["options"] = options
    could, can = (one is None or one.abilities.can_check_qualifications for one in (former, new))
    if could and not can:
        crowd |= UNSET
        told.append("It can't choose people by country or approved work, so these are not asked for any more.")
    elif can and not could:
        crowd = {key: value for key, value in crowd.items() if key not in UNSET or value != UNSET[key]}
        told.append("It can choose people by country and approved work: please look at who may come.")
    return {**settings, "crowd": {**crowd, "name": name}}, told
