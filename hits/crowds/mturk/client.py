"""Connects to MTurk, and sets what its HITs have there: title, reward, time limit, who is kept out.

The same code serves the local marketplace, the sandbox and production; only the endpoint differs. Credentials come from
boto3's usual chain; we never store or log them.
"""

from collections.abc import Mapping
from functools import cache
from threading import Lock
from typing import Any

from django.conf import settings

from evalplatform.errors import EvalPlatformError
from hits.crowds.market import HitToOffer
from hits.crowds.mturk.annotations import annotation_of, token_of
from hits.crowds.mturk.qualifications import crowd_requirements
from hits.crowds.mturk.question import external_question
from hits.crowds.mturk.requester_calls import RequesterCalls
from hits.crowds.mturk.types import HitTypeSpec, NewHit
from hits.crowds.noting import crowd_notes, note_of_crowd
from hits.models import Offering, Study
from hits.models.design import StudyDesign

REGION = "us-east-1"
ENDPOINTS = {
    "sandbox": "https://mturk-requester-sandbox.us-east-1.amazonaws.com",
    "production": "https://mturk-requester.us-east-1.amazonaws.com",
}
_LOCAL_SESSION_LOCK = Lock()  # a boto3 session can't create two clients at the same time
STOP_QUALIFICATION = "stop_qualification_id"  # the note that holds the id of the study's own qualification
HIT_TYPE = "hit_type_id"


class MTurkMarket(RequesterCalls):
    # --- HITs ---

    """Mechanical Turk as a `Market`."""

    def prepare(self, offering: Offering, notes: Mapping[str, str]) -> dict[str, str]:
        stop_id = notes.get(STOP_QUALIFICATION) or self._find_stop_qualification(offering.study)
        hit_type_id = self.create_hit_type(hit_type_of(offering.study.parsed_design, stop_id))
        return {STOP_QUALIFICATION: stop_id, HIT_TYPE: hit_type_id}

    def offer_hit(self, offering: Offering, notes: Mapping[str, str], new: HitToOffer) -> str:
        crowd = offering.study.parsed_design.crowd
        spec = NewHit(
            hit_type_id=notes[HIT_TYPE],
            question_xml=external_question(new.page_url, crowd.frame_height),
            max_assignments=new.places,
            lifetime_seconds=crowd.lifetime_days * 86_400,
            annotation=annotation_of(offering, new.number),
            token=token_of(offering, new.number, new.round),
        )
        return self.create_hit(spec)

    def settle_offering(
        self, offering: Offering, notes: Mapping[str, str], address: str, places: int, is_on_offer: bool
    ) -> Mapping[str, str]:
        """Do nothing: on MTurk, each HIT is on offer by itself."""
        return notes

    # --- Who gets no more of a study: the HITs exclude workers who have the study's own qualification ---

    def keep_out(self, offering: Offering, worker_id: str) -> None:
        self.give_qualification(worker_id, self._stop_qualification(offering))

    def let_in(self, offering: Offering, worker_id: str, reason: str) -> None:
        self.take_qualification(worker_id, self._stop_qualification(offering), reason)

    def _stop_qualification(self, offering: Offering) -> str:
        """Return the qualification's id; create the qualification if it does not exist."""
        known = crowd_notes(offering).get(STOP_QUALIFICATION)
        if known:
            return known
        found = self._find_stop_qualification(offering.study)
        return note_of_crowd(offering, {STOP_QUALIFICATION: found})[STOP_QUALIFICATION]

    def _find_stop_qualification(self, study: Study) -> str:
        """Find it by its name, so that we find one that a killed run has created."""
        return self.own_qualification(
            f"EvalPlatform {study.key}", "Has done as many HITs of this study as one may, or was asked to stop."
        )


def hit_type_of(design: StudyDesign, stop_qualification_id: str = "") -> HitTypeSpec:
    """Return the HIT type of a design. It excludes workers who have the study's stop qualification."""
    crowd = design.crowd
    return HitTypeSpec(
        title=design.task.title,
        description=design.task.description,
        keywords=design.task.keywords,
        reward_cents=design.pay.reward_cents,
        assignment_duration_seconds=crowd.time_limit_minutes * 60,
        auto_approval_delay_seconds=crowd.auto_approval_days * 86_400,
        requirements=crowd_requirements(
            crowd.countries, crowd.min_approved, crowd.min_approval_percent, stop_qualification_id
        ),
    )


# --- boto3 -----------------------------------------------------------------------------------------------------------


def boto_client(endpoint_url: str, *, has_own_credentials: bool = True, threads: int = 16, attempts: int = 12) -> Any:
    """Return a boto3 client for MTurk.

    `has_own_credentials` is False for the local marketplace, whose keys, if it checks any, are in the settings.
    """
    import boto3  # slow to import, as all of botocore, and few processes open a market
    from botocore.config import Config

    config = Config(
        region_name=REGION,
        retries={"mode": "adaptive", "max_attempts": attempts},
        connect_timeout=10,
        read_timeout=30,
        max_pool_connections=threads,
    )
    if not has_own_credentials:
        key_id, secret = _local_keys()
        keys = {"aws_access_key_id": key_id, "aws_secret_access_key": secret}
        with _LOCAL_SESSION_LOCK:
            return _local_session().client("mturk", endpoint_url=endpoint_url, config=config, **keys)
    session = boto3.session.Session()
    if session.region_name not in (None, REGION):
        raise EvalPlatformError(
            f"Your AWS settings name the region {session.region_name}, and Mechanical Turk is in {REGION} only. Set "
            f"AWS_DEFAULT_REGION={REGION} if these credentials are the ones that you mean."
        )
    return session.client("mturk", endpoint_url=endpoint_url, config=config)


@cache
def _local_session() -> Any:
    """Return one session for all clients: a session reads megabytes of JSON about AWS before its first client."""
    import boto3

    return boto3.session.Session()


def _local_keys() -> tuple[str, str]:
    return settings.LOCAL_MARKET_KEY_ID or "local", settings.LOCAL_MARKET_SECRET_KEY or "local"


def sign_local_call(url: str, target: str, body: bytes) -> dict[str, str]:
    """Return the headers of a call that only the local marketplace knows, signed as boto3 signs its own calls."""
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    headers = {"Content-Type": "application/x-amz-json-1.1", "X-Amz-Target": target}
    request = AWSRequest("POST", url, headers=headers, data=body)
    SigV4Auth(Credentials(*_local_keys()), "mturk-requester", REGION).add_auth(request)
    return dict(request.headers.items())
