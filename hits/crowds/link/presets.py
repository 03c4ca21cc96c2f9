"""Says what the form of a new link begins with for services that we know, and what to enter there.

What a service does is its own affair and may change: docs/links.md says when each was looked up.
"""

from dataclasses import dataclass

from hits.models import OpenLink


@dataclass(frozen=True)
class Preset:
    name: str
    title: str
    label: str = ""
    parameters: str = ""
    way: str = OpenLink.Way.CODE
    address_hint: str = ""
    steps: tuple[str, ...] = ()
    replaced: str = ""  # what the service writes in its own address where the id belongs
    fills: str = ""  # what it replaces in ours by the id; empty if it adds the parameters by itself

    def filled_in(self, address: str) -> str:
        return address.replace(self.replaced, "{worker}") if self.replaced else address


OWN = Preset(
    "own",
    "My own",
    steps=(
        "For a poster, a mailing list or a chat, a name is enough: who comes gets a made-up id in a cookie.",
        "For a panel, say in which parameter it sends its people's id, and how it hears that they have finished.",
    ),
)
SONA = Preset(
    "sona",
    "SONA",
    label="SONA",
    parameters="id",
    way=OpenLink.Way.REDIRECT,
    address_hint="https://yourschool.sona-systems.com/webstudy_credit.aspx?experiment_id=1&credit_token=2&survey_code=XXXX",
    steps=(
        "Paste the client-side completion URL of your study on SONA, with its XXXX; people then get their credit when "
        "they go back. Or choose the server call, and paste the server-side completion URL.",
        "Then enter this link's address on SONA as the study URL, with ?id=%SURVEY_CODE% at its end.",
    ),
    replaced="XXXX",
    fills="%SURVEY_CODE%",
)
CONNECT = Preset(
    "connect",
    "CloudResearch Connect",
    label="Connect",
    parameters="participantId, assignmentId",
    way=OpenLink.Way.REDIRECT,
    address_hint="https://connect.cloudresearch.com/participant/project/0123456789/complete",
    steps=(
        "Paste the redirect URL that Connect shows when you create the project.",
        "Then enter this link's address as the project's URL. Connect adds participantId, assignmentId and projectId.",
    ),
)

PRESETS = {one.name: one for one in (OWN, SONA, CONNECT)}
