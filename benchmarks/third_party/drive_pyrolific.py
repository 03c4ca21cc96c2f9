"""Drive pyrolific, which is generated from Prolific's own OpenAPI document: each answer is parsed into its types.

publish URL TOKEN           makes a study and publishes it; prints its id
review URL TOKEN STUDY      lists and reads the work, approves, rejects, pays a bonus; prints what it saw
"""

import contextlib
import json
import sys
from typing import Any

from pyrolific import AuthenticatedClient, models  # type: ignore[import-not-found]
from pyrolific.api.bonuses import create_bonus_payments, pay_bonus_payments  # type: ignore[import-not-found]
from pyrolific.api.filters import get_filters  # type: ignore[import-not-found]
from pyrolific.api.hooks import create_secret, get_event_types  # type: ignore[import-not-found]
from pyrolific.api.participant_groups import (  # type: ignore[import-not-found]
    add_to_participant_group,
    create_participant_group,
    get_participant_group_participants,
)
from pyrolific.api.studies import (  # type: ignore[import-not-found]
    calculate_study_cost,
    create_study,
    get_study,
    get_study_cost,
    publish_study,
    update_study,
)
from pyrolific.api.submissions import (  # type: ignore[import-not-found]
    get_submission,
    get_submissions,
    request_submission_return,
    transition_submission,
)
from pyrolific.api.users import get_user  # type: ignore[import-not-found]
from pyrolific.api.workspaces import get_workspace_balance, get_workspaces  # type: ignore[import-not-found]

from benchmarks.third_party.prolific_scenario import BONUS, CODES, MESSAGE, STUDY


def main() -> None:
    step, url, token, *rest = sys.argv[1:]
    client = AuthenticatedClient(base_url=url, token=token, prefix="Token", raise_on_unexpected_status=True)
    with_token = {"client": client, "authorization": f"Token {token}"}
    print(json.dumps(publish(with_token) if step == "publish" else review(rest[0], with_token)))


def publish(with_token: dict[str, Any]) -> str:
    assert get_user.sync(**with_token).id
    body = models.CreateStudy.from_dict({**STUDY, "completion_codes": CODES})
    study = create_study.sync(body=body, **with_token)
    asked = models.StudyCostRequest(reward=STUDY["reward"], total_available_places=STUDY["total_available_places"])
    assert calculate_study_cost.sync(body=asked, **with_token).total_cost > 0
    with contextlib.suppress(ValueError):  # its list of statuses lacks PUBLISHING, so it can't parse the answer
        publish_study.sync_detailed(study.id, body=models.StudyTransition(action="PUBLISH"), **with_token)
    return str(study.id)


def review(study_id: str, with_token: dict[str, Any]) -> dict[str, Any]:
    client = with_token["client"]  # the newer operations take the token from it, and no argument for it
    listed = get_submissions.sync(study=study_id, **with_token).results
    ids = sorted(one.id for one in listed)
    detail = {one: get_submission.sync(one, **with_token) for one in ids}
    good, bad = (one for one in ids if detail[one].status == models.SubmissionDetailStatus.AWAITING_REVIEW)
    action, category = models.SubmissionTransitionAction, models.SubmissionTransitionRejectionCategory
    approval = models.SubmissionTransition(action=action.APPROVE)
    approved = transition_submission.sync(good, body=approval, **with_token)
    asked = models.RequestSubmissionReturnBody(request_return_reasons=["Nothing arrived."])
    request_submission_return.sync(bad, body=asked, client=client)
    rejection = models.SubmissionTransition(action.REJECT, MESSAGE, category.NO_DATA)
    rejected = transition_submission.sync(bad, body=rejection, **with_token)
    lines = models.CreateBonusPaymentsBody(study_id=study_id, csv_bonuses=f"{good},{BONUS}")
    bonus = create_bonus_payments.sync(body=lines, **with_token)
    pay_bonus_payments.sync(bonus.id, **with_token)
    places = models.Study.from_dict(get_study.sync(study_id, **with_token).to_dict())
    update_study.sync_detailed(study_id, body=models.BaseStudy(total_available_places=4), **with_token)
    workspace = get_workspaces.sync(**with_token).results[0]
    body = models.CreateParticipantGroupBody(name="Took part", workspace_id=workspace.id)
    group = create_participant_group.sync(body=body, client=client)
    members = models.ParticipantIDList(participant_ids=[detail[good].participant])
    add_to_participant_group.sync(group.id, body=members, client=client)
    return {
        "statuses": [approved.status, rejected.status],
        "bonus_cents": bonus.amount,
        "places": [places.total_available_places, get_study.sync(study_id, **with_token).total_available_places],
        "rewards": get_study_cost.sync(study_id, **with_token).rewards.to_dict()["rewards"]["amount"],
        "currency": get_workspace_balance.sync(workspace.id, **with_token).currency_code,
        "members": len(get_participant_group_participants.sync(group.id, client=client).results),
        "filters": len(get_filters.sync(**with_token).results) > 5,
        "event_types": len(get_event_types.sync(**with_token).results),
        "secret": bool(create_secret.sync(body=models.CreateSecret(workspace.id), **with_token).value),
    }


if __name__ == "__main__":
    main()
