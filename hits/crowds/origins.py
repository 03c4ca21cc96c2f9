"""Decides where a piece of confirmed work came from: people, a simulation or a rehearsal (decision 30).

Only three things count, and a worker can change none of them: whether the crowd itself made the worker up, what the
environment is for, and since when an owner has declared that people there are the study's raters. So the answer is the
same if the work is collected again after a crash, or into a restored database.
"""

from hits.crowds.contract import Crowd
from hits.crowds.market import MarketAssignment
from hits.crowds.registry import crowd_of, environment_of
from hits.models import Offering, Submission


def origin_of(offering: Offering, found: MarketAssignment) -> Submission.Origin:
    if crowd_of(offering).is_simulated(offering.environment, found.crowd_worker_id):
        return Submission.Origin.SIMULATION
    if environment_of(offering).has_real_raters:
        return Submission.Origin.PEOPLE
    if offering.raters_since is not None and found.accepted_at >= offering.raters_since:
        return Submission.Origin.PEOPLE
    return Submission.Origin.REHEARSAL


def has_real_raters(offering: Offering) -> bool:
    """Return whether people who work there now are the study's raters."""
    return environment_of(offering).has_real_raters or offering.raters_since is not None


def is_unpaid_rehearsal(crowd: Crowd, environment: str) -> bool:
    """Return whether people there only try the study out, and nobody pays them: the trial of a link."""
    is_trial = any(one.name == environment and not one.has_real_raters for one in crowd.environments)
    return is_trial and not crowd.abilities.pays_workers


def why_no_raters(offering: Offering) -> str:
    """Tell why an owner can't declare that people there are the study's raters; empty if they can."""
    return crowd_of(offering).why_no_raters(environment_of(offering))
