"""Lists the seven steps of the study form: which settings each one asks for, with labels and help."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from generation.models import Dataset, Generator
from hits.crowds import CROWDS, FIRST_CHOICE, WHO_REACHES_PEOPLE, Crowd, crowd_in, options_of
from hits.errors import DesignProblem
from hits.models.design import ANSWER_TOLD
from hits.models.money import SIGNS
from hits.protocols import PROTOCOLS, OwnSetting, protocol_in
from hits.views.analysis_fields import analysis_fields
from hits.views.setting_fields import SettingField

OwnFields = Sequence[SettingField]
TASK = "task"


@dataclass(frozen=True)
class Step:
    key: str
    title: str
    lead: str
    parts: tuple[str, ...]  # of a study file
    common_fields: Callable[[Mapping[str, Any], OwnFields], list[SettingField]]  # of this draft, with the own ones

    def fields(self, settings: Mapping[str, Any]) -> list[SettingField]:
        """Return the fields of this draft. Its protocol's own settings stand where the others of their part do."""
        own = [one for one in protocol_in(settings).own_settings if self.has(one.path)]
        return self.common_fields(settings, [_own_field(one) for one in own])

    def owns(self, problem: DesignProblem) -> bool:
        return self.has(problem.field)

    def has(self, path: str) -> bool:
        """Return whether this step asks for the setting. What no step knows, such as a part that only one protocol has,
        belongs to the task."""
        part = path.partition(".")[0]
        if part in self.parts:
            return True
        return self.key == TASK and part not in KNOWN_PARTS


def _data_fields(settings: Mapping[str, Any], own: OwnFields) -> list[SettingField]:
    return [
        SettingField("datasets", "How many dialogs of each dataset", "dataset_counts"),
        SettingField("seed", "Seed", "number", "The same seed gives the same HITs on any machine."),
        SettingField(
            "data.incomplete",
            "Dialogs that a model has not answered",
            "choice",
            choices=[("refuse", "are a problem to solve first"), ("skip", "are left out")],
        ),
        SettingField(
            "data.short",
            "A dataset with fewer dialogs than asked for",
            "choice",
            choices=[("refuse", "is a problem to solve first"), ("take all", "gives all that it has")],
        ),
        *own,
    ]


def _generator_fields(settings: Mapping[str, Any], own: OwnFields) -> list[SettingField]:
    names = [(name, name) for name in Generator.objects.values_list("name", flat=True)]
    return [SettingField("generators", "Whose replies are rated", "many", choices=names), *own]


def _task_fields(settings: Mapping[str, Any], own: OwnFields) -> list[SettingField]:
    protocol = protocol_in(settings)
    ways = [(one.name, one.title) for one in PROTOCOLS.values()]
    help_text = "Another way has other settings; those that only this one has are removed."
    return [
        SettingField("protocol", "How people are asked", "choice", help_text if len(ways) > 1 else "", ways),
        SettingField("task.title", "Title on the marketplace"),
        SettingField("task.description", "Description on the marketplace"),
        SettingField("task.keywords", "Keywords on the marketplace", help="separated by commas"),
        SettingField("task.question", "Question above the replies"),
        SettingField(
            "task.reply_style",
            "Replies are shown",
            "choice",
            "Tidied: first letters, a small i, spaces, apostrophes and the final stop are made alike in all of them, "
            "the human ones too.",
            choices=[("tidied", "tidied"), ("as written", "as they were written")],
        ),
        *own,
        SettingField("task.welcome", "Welcome", "markdown"),
        SettingField("task.instructions", "Instructions", "markdown"),
        SettingField("warm_up.context", "Warm-up conversation, one turn a line", "lines"),
        SettingField("warm_up.replies", "Warm-up replies", "warm_up_replies", fitting=protocol.fitting_setting),
        SettingField("task.consent", "Consent", "markdown"),
        SettingField("task.contact", "Contact", "markdown"),
        SettingField("task.requester", "Who asks", help="Your group and university, as workers read it."),
        SettingField("task.language", "Language", help="of texts and dialogs, as a tag: en, de, pt-BR"),
    ]


def _own_field(one: OwnSetting) -> SettingField:
    return SettingField(one.path, one.label, one.kind, one.help, one.choices, columns=one.columns)


def _dataset_names() -> list[tuple[str, str]]:
    return [(name, name) for name in Dataset.objects.values_list("name", flat=True)]


def _checkpoint_fields(settings: Mapping[str, Any], own: OwnFields) -> list[SettingField]:
    protocol = protocol_in(settings)
    return [
        SettingField("checkpoints.per_hit", "Checkpoints a HIT", "number"),
        SettingField("checkpoints.datasets", "Taken from these datasets", "many", choices=_dataset_names()),
        *own,
        SettingField(
            "checkpoints.max_attempts",
            "Presses of Bonus Validate at most, a dialog",
            "number",
            "0: as many as one likes",
        ),
        SettingField(
            "checkpoints.counts",
            f"The {protocol.answer_noun} that counts",
            "choice",
            choices=[("final", "the one that is submitted"), ("first check", "the one at the first Bonus Validate")],
        ),
        SettingField(
            "checkpoints.feedback",
            "Workers hear of their points",
            "choice",
            choices=[("at once", "at once, by Bonus Validate"), ("after submission", "after they have submitted")],
        ),
        SettingField(
            "checkpoints.attention_checks",
            "Attention checks a HIT",
            "number",
            "Conversations that tell plainly what to answer, on top of the dialogs: no ratings, no points.",
        ),
        SettingField(
            "checkpoints.attention_text",
            "An attention check says",
            "text",
            f"The usual words if empty. {ANSWER_TOLD} stands for the answer.",
        ),
        SettingField(
            "checkpoints.repeats",
            "Repeats a HIT",
            "number",
            "Dialogs that come again, on top of the dialogs: how far a worker agrees with himself or herself.",
        ),
        SettingField("screening", "What is left out of the results", "screening", "Nobody's pay depends on it."),
    ]


def _crowd_fields(settings: Mapping[str, Any], own: OwnFields) -> list[SettingField]:
    crowd = crowd_in(settings)
    in_order = sorted(CROWDS, key=lambda name: name != FIRST_CHOICE)
    named = [(name, _described(CROWDS[name])) for name in in_order]
    known = "Its fees price the study, and its rules are checked. The study may be offered on others as well. "
    known += WHO_REACHES_PEOPLE
    frame = SettingField("crowd.frame_height", "Height of the frame, in pixels", "number", "0: as high as the window")
    return [
        *([SettingField("crowd.name", "Meant for", "choice", known, named)] if len(named) > 1 else []),
        *(_own_field(one) for one in options_of(crowd)),
        SettingField("crowd.countries", "Countries", "words", "ISO codes, separated by commas; none: everywhere"),
        SettingField("crowd.min_approved", "Approved assignments at least", "number"),
        SettingField("crowd.min_approval_percent", "Approval rate at least, in percent", "number"),
        SettingField("crowd.max_hits_per_worker", "HITs a worker may do at most", "number"),
        SettingField("crowd.time_limit_minutes", "Time limit of an assignment, in minutes", "number"),
        SettingField("crowd.lifetime_days", "HITs are on offer for, in days", "number"),
        SettingField("crowd.auto_approval_days", "Approved automatically after, in days", "number"),
        *([frame] if crowd.abilities.is_framed else []),
        *own,
    ]


def _described(crowd: Crowd) -> str:
    """Name a crowd as its last environment, the real one, is described: "Amazon Mechanical Turk"."""
    words = crowd.environments[-1].described
    return f"{words[0].upper()}{words[1:]}"


def _plan_fields(settings: Mapping[str, Any], own: OwnFields) -> list[SettingField]:
    return [
        SettingField("hits.dialogs", "Dialogs a HIT", "number"),
        SettingField("hits.assignments", "Workers for each dialog", "number"),
        SettingField(
            "hits.uneven_end",
            "When the dialogs don't fill the last HIT",
            "choice",
            choices=[("spread", "some HITs are smaller"), ("drop", "the rest is left out")],
        ),
        SettingField(
            "hits.replacements",
            "More workers for what is left out, rejected or expired",
            "choice",
            choices=[("by hand", "when you ask for them"), ("at each sync", "by itself, within the budget")],
        ),
        SettingField(
            "hits.replace_undecided_share",
            "Share of work without answers that is replaced before you decide",
            "number",
            "Of all published assignments. The rest is replaced when you have approved or rejected it.",
        ),
        SettingField("pay.currency", "Currency of all amounts", "choice", choices=[(one, one) for one in SIGNS]),
        SettingField("pay.reward", "Reward for a HIT", "money", "as 0.40"),
        SettingField("pay.bonus", "Bonus", "money"),
        SettingField("pay.bonus_points", "Points that earn the bonus", "number"),
        SettingField("pay.expected_minutes", "Minutes that a HIT takes", "number"),
        SettingField("pay.minimum_hourly", "What an hour must pay at least", "money"),
        SettingField("pay.budget", "Budget", "money", "Publishing stops before it is crossed."),
        SettingField(
            "pay.approval",
            "What workers hand in is approved",
            "choice",
            choices=[("at once", "at once"), ("after a delay", "after a delay"), ("by hand", "by hand, in the pages")],
        ),
        SettingField("pay.approval_delay_hours", "Hours of that delay", "number"),
        *own,
    ]


def _analysis_fields(settings: Mapping[str, Any], own: OwnFields) -> list[SettingField]:
    return [*analysis_fields(settings), *own]


STEPS = [
    Step("data", "Data", "Which dialogs are rated.", ("name", "datasets", "seed", "data"), _data_fields),
    Step("models", "Models", "Whose replies are compared.", ("generators",), _generator_fields),
    Step(TASK, "Task", "What workers read and do.", ("task", "warm_up", "protocol"), _task_fields),
    Step(
        "checkpoints",
        "Checkpoints",
        "Dialogs in which the human reply is hidden among the cards, and what is left out of the results.",
        ("checkpoints", "screening"),
        _checkpoint_fields,
    ),
    Step("crowd", "Crowd", "Who may work on it.", ("crowd",), _crowd_fields),
    Step("plan", "Plan and cost", "How many raters, at which pay, to show what.", ("hits", "pay"), _plan_fields),
    Step(
        "analysis",
        "Analysis",
        "What the study is to show, and when it has shown it: settled before anybody rates.",
        ("analysis",),
        _analysis_fields,
    ),
]
KNOWN_PARTS = {part for step in STEPS for part in step.parts}
