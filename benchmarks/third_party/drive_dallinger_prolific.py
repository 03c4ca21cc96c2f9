"""Drive Dallinger's ProlificService, which its recruiter and its command line call.

publish URL TOKEN           makes a study and publishes it; prints its id
review URL TOKEN STUDY      lists and reads the work, approves, pays a bonus, adds places; prints what it saw
"""

import json
import sys
from typing import Any

from dallinger.prolific import ProlificService  # type: ignore[import-not-found]

from benchmarks.third_party.prolific_scenario import BONUS, CODES, STUDY


class Service(ProlificService):  # type: ignore[misc]
    """Dallinger's service at another address: it knows Prolific's only, and has no setting for a second."""

    url = ""

    @property
    def api_root(self) -> str:
        return f"{self.url}/api/{self.api_version}"


def main() -> None:
    step, url, token, *rest = sys.argv[1:]
    service = Service(api_token=token, api_version="v1", referer_header="https://github.com/Dallinger/Dallinger")
    service.url = url
    print(json.dumps(publish(service) if step == "publish" else review(service, rest[0])))


def publish(service: Service) -> str:
    workspace = service.get_workspaces()[0]["id"]
    drafted = service.draft_study(
        **{**STUDY, "completion_codes": CODES},
        completion_option="url",
        filters=[],
        is_custom_screening=False,
        project_name="Dialogs",
        workspace=workspace,
    )
    service.publish_study(drafted["id"])
    spare = service.draft_study(
        **{**STUDY, "completion_codes": CODES},
        completion_option="url",
        filters=[],
        is_custom_screening=False,
        project_name="Dialogs",
        workspace=workspace,
    )
    assert service.delete_study(spare["id"])
    return str(drafted["id"])


def review(service: Service, study_id: str) -> dict[str, Any]:
    found = service.get_assignments_for_study(study_id)
    good = next(key for key in sorted(found) if found[key]["status"] == "AWAITING REVIEW")
    approved = service.approve_participant_submission(good)
    service.pay_session_bonus(study_id, found[good]["worker_id"], float(BONUS))
    before = service.get_study(study_id)["total_available_places"]
    after = service.add_participants_to_study(study_id, 1)["total_available_places"]
    return {
        "submissions": len(found),
        "statuses": [approved["status"]],
        "places": [before, after],
        "cost": service.get_total_cost(study_id),
        "studies": len(service.get_studies(["ACTIVE"])),
        "me": bool(service.who_am_i()["id"]),
    }


if __name__ == "__main__":
    main()
