"""Lets an owner declare that the people who work on an offering from now on are the study's raters."""

from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from evalplatform.errors import EvalPlatformError
from hits.crowds import has_real_raters, why_no_raters
from hits.models import Event, Offering


@transaction.atomic
def declare_raters(offering: Offering, declared_by: User | None, now: datetime) -> None:
    """Note since when people there are raters. What was accepted before stays a rehearsal, and declaring again changes
    nothing. Declare before the HITs are on offer: whoever takes one earlier is not counted among the raters."""
    if has_real_raters(offering):
        return
    if reason := why_no_raters(offering):
        raise EvalPlatformError(reason)
    if Offering.objects.filter(pk=offering.pk, raters_since=None).update(raters_since=now):
        text = f"declared that people who work on the {offering.marketplace} market from now on are the study's raters"
        Event.objects.create(study=offering.study, at=now, actor=declared_by, text=text)
    offering.refresh_from_db(fields=["raters_since"])
