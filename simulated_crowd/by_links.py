"""Let a crowd work on the trial of an open link: our own page gives out the HITs, so nothing has to be planned.

Workers come one after the other, each for one HIT at a time, until nothing is left for anybody. All of them finish.
"""

from collections.abc import Callable
from datetime import datetime, timedelta

from django.utils import timezone

from evalplatform.errors import EvalPlatformError
from hits.crowds import id_of_simulated, visit_for, work_address
from hits.models import Assignment, Offering, Publication
from hits.protocols import protocol_of
from simulated_crowd.channels import Channel
from simulated_crowd.dating import date_work
from simulated_crowd.judging import Judge
from simulated_crowd.knowing import known_dialogs
from simulated_crowd.people import Crowd, SimulatedWorker
from simulated_crowd.simulating import SimulatedWork
from simulated_crowd.visiting import TurnedAway, Visit
from simulated_crowd.working_times import Pace, pace_of

NOT_KNOWN_YET = Pace(0, (), ())
BETWEEN = timedelta(minutes=2)  # of two who finish one after the other


def simulate_by_link(
    offering: Offering,
    crowd: Crowd,
    channel: Channel,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> SimulatedWork:
    published = Publication.objects.filter(offering=offering).open()
    if not published.exists():
        study = offering.study
        raise EvalPlatformError(f"No HIT of {study} is on link.trial: run publish_hits {study} --crowd link first.")
    places = sum(published.values_list("hit__assignments", flat=True))
    taken = Assignment.objects.filter(offering=offering, submitted_at__isnull=False).count()
    work = SimulatedWork(crowd, wanted=max(0, places - taken))
    ends_at = timezone.now() - BETWEEN * work.wanted
    waiting = list(crowd.workers)
    while waiting:
        staying = []
        for worker in waiting:
            with channel.whole_stint():
                refusal = _work_once(offering, crowd, channel, worker, ends_at)
            if refusal:
                work.refused[refusal] += 1
                continue
            ends_at += BETWEEN
            work.submitted[worker.type.name] += 1
            staying.append(worker)
            on_progress(work.submitted.total(), work.wanted)
        waiting = staying
    return work


def _work_once(
    offering: Offering, crowd: Crowd, channel: Channel, worker: SimulatedWorker, ends_at: datetime
) -> str | None:
    """Do one HIT. Return why the page gave out none, if so."""
    design = offering.study.parsed_design
    protocol = protocol_of(design)
    arrived = visit_for(offering, id_of_simulated(worker.worker_id))
    visit = Visit(channel, Judge(worker, crowd.truth, len(protocol.scale.values)), protocol, (), NOT_KNOWN_YET)
    try:
        visit.open(work_address(offering, arrived))
    except TurnedAway as turned_away:
        return turned_away.code
    ours = Assignment.objects.filter(offering=offering, crowd_worker_id=arrived.worker_id)
    this = ours.filter(crowd_assignment_id=arrived.assignment_id)
    hit = this.get().hit
    visit.dialogs = known_dialogs(design, hit.pk)
    visit.pace = pace_of(worker, hit.number, len(visit.dialogs), design.crowd.time_limit_minutes * 60)
    visit.work_through(len(visit.dialogs))
    visit.submit()
    date_work(this, visit.pace, ends_at - timedelta(seconds=visit.pace.seconds()), ends_at)
    return None
