"""Let a crowd work on the local Prolific: our own page gives out the HITs, so nothing has to be planned.

Participants come one after the other, reserve a place there, work on our page, and complete there with its code; now
and then one returns their place. It goes on until nobody can get a place any more.
"""

from collections.abc import Callable
from datetime import datetime, timedelta

from django.utils import timezone

from evalplatform.errors import EvalPlatformError
from hits.crowds import crowd_notes
from hits.models import Assignment, Offering, Publication
from hits.protocols import protocol_of
from localprolific import participating
from localprolific.errors import Refused
from localprolific.hex_ids import seeded_ids
from localprolific.models import Participant, ProlificStudy, ProlificSubmission
from localprolific.seeding import new_participant
from simulated_crowd.channels import Channel
from simulated_crowd.dating import date_work
from simulated_crowd.dice import happens
from simulated_crowd.judging import Judge
from simulated_crowd.knowing import known_dialogs
from simulated_crowd.people import Crowd, SimulatedWorker
from simulated_crowd.simulating import SimulatedWork
from simulated_crowd.visiting import TurnedAway, Visit
from simulated_crowd.working_times import Pace, pace_of

NOT_KNOWN_YET = Pace(0, (), ())
BETWEEN = timedelta(minutes=2)  # of two who finish one after the other
SIMULATED_NAME = "Simulated {number}"


def simulate_on_prolific(
    offering: Offering,
    crowd: Crowd,
    channel: Channel,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> SimulatedWork:
    there = ProlificStudy.objects.undeleted().filter(study_id=crowd_notes(offering).get("study", "")).first()
    if there is None or not Publication.objects.filter(offering=offering).open().exists():
        study = offering.study
        raise EvalPlatformError(
            f"No HIT of {study} is on prolific.local in this database: run publish_hits {study} --crowd prolific first."
        )
    taken = there.submissions.filter(completed_at__isnull=False).count()
    work = SimulatedWork(crowd, wanted=max(0, there.total_available_places - taken))
    ends_at = timezone.now() - BETWEEN * work.wanted
    waiting = [(worker, _participant(worker)) for worker in crowd.workers]
    while waiting:
        staying = []
        for worker, participant in waiting:
            with channel.whole_stint():
                came_of_it = _work_once(offering, there, participant, crowd, channel, worker, ends_at)
            if came_of_it not in ("submitted", "returned"):
                work.refused[came_of_it] += 1
                continue
            ends_at += BETWEEN
            (work.submitted if came_of_it == "submitted" else work.returned)[worker.type.name] += 1
            staying.append((worker, participant))
            on_progress(work.submitted.total(), work.wanted)
        waiting = staying
    return work


def _participant(worker: SimulatedWorker) -> Participant:
    """Return the worker's account there, which outlives a simulation. Its id depends on the worker's number alone."""
    name = SIMULATED_NAME.format(number=worker.number + 1)
    known = Participant.objects.filter(name=name, is_simulated=True).first()
    if known is not None:
        return known
    with seeded_ids(worker.number):
        return new_participant(name)


def _work_once(
    offering: Offering,
    there: ProlificStudy,
    participant: Participant,
    crowd: Crowd,
    channel: Channel,
    worker: SimulatedWorker,
    ends_at: datetime,
) -> str:
    """Do one HIT. Return "submitted" or "returned", or why there was none."""
    try:
        submission = participating.reserve(participant, there, timezone.now())
        address = participating.start(submission, timezone.now())
    except Refused:
        return "no place on Prolific"
    design = offering.study.parsed_design
    protocol = protocol_of(design)
    visit = Visit(channel, Judge(worker, crowd.truth, len(protocol.scale.values)), protocol, (), NOT_KNOWN_YET)
    path = f"/work/{address.split('/work/', 1)[1]}"
    try:
        visit.open(path)
    except TurnedAway as turned_away:
        participating.return_submission(submission, timezone.now())
        return turned_away.code
    this = Assignment.objects.filter(offering=offering, crowd_assignment_id=submission.submission_id)
    hit = this.get().hit
    visit.dialogs = known_dialogs(design, hit.pk)
    visit.pace = pace_of(worker, hit.number, len(visit.dialogs), design.crowd.time_limit_minutes * 60)
    if happens(worker.type.return_chance, *worker.key, hit.number, "returns"):
        participating.return_submission(submission, timezone.now())
        return "returned"
    visit.work_through(len(visit.dialogs))
    visit.submit()
    begins_at = ends_at - timedelta(seconds=visit.pace.seconds())
    date_work(this, visit.pace, begins_at, ends_at)
    ProlificSubmission.objects.filter(pk=submission.pk).update(started_at=begins_at)
    participating.complete(participant, crowd_notes(offering)["code finished"], ends_at)
    return "submitted"
