"""Lists the 62 questions of the Human Evaluation Datasheet 3.0 with the elements of its public form.

The numbers and element ids are those of the form at nlp-heds.github.io (Belz and Thomson 2024, arXiv 2412.07940), as it
was in 2025; the questions are in words of our own. A question is answered by text, or by options: those of one question
have the ids ELEMENT-1, ELEMENT-2 and so on, in the form's order, and further words go to ELEMENT-other_text. Section 4
is repeated for each criterion.
"""

from collections.abc import Iterator
from dataclasses import dataclass

CRITERION_ELEMENT = "heds-criteria-criterion"  # where the form keeps the names of the criteria
CHOICES_FROM = {"2.4": "heds-system-input_languages", "2.5": "heds-system-output_languages"}
# The place of a language in the form's list, and its text there; other languages go to "other", the last.
LANGUAGES = {
    "cs": (37, "36. Czech"),
    "da": (38, "37. Danish"),
    "de": (56, "55. German"),
    "el": (57, "56. Greek, Modern (1453–)"),
    "en": (42, "41. English"),
    "et": (44, "43. Estonian"),
    "fi": (48, "47. Finnish"),
    "fr": (49, "48. French"),
    "nl": (40, "39. Dutch, Flemish"),
    "zh": (30, "29. Chinese"),
}
UNPICKED = {0: ""}  # a multiple choice of which the platform never picks an option
OTHER_LANGUAGE = (185, "184. Other (please describe)")


@dataclass(frozen=True)
class Question:
    """`options` has the texts of a multiple choice by their place in the form, as far as the platform ever picks them;
    it is empty for a question that is answered by text, and `UNPICKED` if only the researchers can choose."""

    number: str
    asked: str
    element: str
    options: dict[int, str]


_PAPER = "heds-paper_and_resources"
_SAMPLE = "heds-sample_evaluators_design-sample"
_WHO = "heds-sample_evaluators_design-evaluators"
_DESIGN = "heds-sample_evaluators_design-experimental_design"
_ASKED = "heds-criteria-criterion-response_elicitation"
YES_NO_NOT = {1: "1. Yes", 2: "2. No", 3: "3. N/A (please explain)."}

SECTIONS = {
    "1 Main reference and resources": "1.",
    "2 Systems": "2.",
    "3.1 Sample of outputs": "3.1",
    "3.2 Evaluators": "3.2",
    "3.3 Experimental design": "3.3",
    "4 Quality criteria": "4.",
    "5 Ethics": "5.",
}


def _questions() -> Iterator[tuple[str, str, str, dict[int, str]]]:
    nothing: dict[int, str] = {}
    sheet = f"{_PAPER}-names_and_affiliations"
    yield "1.1.1", "Where the paper or report about the experiment is", f"{_PAPER}-paper-link", UNPICKED
    yield "1.1.2", "Which experiment this sheet is about", f"{_PAPER}-paper-experiment_identification", nothing
    yield "1.2", "Where the resources that were used are", f"{_PAPER}-resources-links", UNPICKED
    for number, who, part in (
        ("1.3.1", "Who fills this in", "person_completing_this_sheet"),
        ("1.3.2", "Whom to contact", "contact_author"),
    ):
        for place, word in enumerate(("name", "affiliation", "email"), start=1):
            yield f"{number}.{place}", f"{who}: {word}", f"{sheet}-{part}-{word}", nothing
    yield "2.1", "Type of input", "heds-system-input_types", {8: "8. Text: dialogue"}
    yield "2.2", "Type of output", "heds-system-output_types", {9: "9. Text: other (please describe)"}
    yield "2.3", "Task", "heds-system-tasks", {10: "10. Dialogue turn generation"}
    languages = dict([*LANGUAGES.values(), OTHER_LANGUAGE])
    yield "2.4", "Language of the input", CHOICES_FROM["2.4"], languages
    yield "2.5", "Language of the output", CHOICES_FROM["2.5"], languages
    yield "3.1.1", "Outputs evaluated for each system", f"{_SAMPLE}-number_of_system_outputs", nothing
    yield (
        *("3.1.2", "How they were chosen", f"{_SAMPLE}-system_output_selection"),
        {
            1: "1. By simple automatic random selection",
            2: "2. By an automatic random process but using stratified sampling over given properties",
        },
    )
    yield "3.1.3.1", "Power analysis: method", f"{_SAMPLE}-statistical_power-method", nothing
    yield "3.1.3.2", "Power analysis: power of the sample", f"{_SAMPLE}-statistical_power-value", nothing
    yield "3.1.3.3", "Power analysis: where its code is", f"{_SAMPLE}-statistical_power-script", nothing
    yield "3.2.1", "Evaluators whose work counts", f"{_WHO}-number_of_evaluators", nothing
    yield "3.2.2.1", "Are they experts in the domain?", f"{_WHO}-evaluators-expertise", YES_NO_NOT
    yield (
        *("3.2.2.2", "Were they paid?", f"{_WHO}-evaluators-payment"),
        {1: "1. Paid (monetary compensation)", 3: "3. Not paid", 4: "4. N/A (please explain)."},
    )
    yield "3.2.2.3", "Did the authors know any of them before?", f"{_WHO}-evaluators-known_to_authors", YES_NO_NOT
    yield "3.2.2.4", "Were authors among them?", f"{_WHO}-evaluators-are_authors", YES_NO_NOT
    yield "3.2.3", "How they were recruited", f"{_WHO}-recruitment_method", nothing
    yield "3.2.4", "Training and practice before the task", f"{_WHO}-training_practice", nothing
    yield "3.2.5", "Other characteristics of the evaluators", f"{_WHO}-characteristics", nothing
    yield "3.3.1", "Was the design preregistered?", f"{_DESIGN}-preregistered", UNPICKED
    yield "3.3.2", "With what responses are collected", f"{_DESIGN}-collection_method", nothing
    yield (
        *("3.3.3.1", "Kinds of quality assurance", f"{_DESIGN}-quality_assurance-method"),
        {
            2: "2. Automatic quality checking methods are used during and/or after evaluation",
            4: "4. Evaluators are excluded if they fail quality checks (often or badly enough)",
            5: "5. Some evaluations are excluded because of failed quality checks",
            7: "7. None of the above (no quality assurance methods used)",
        },
    )
    yield "3.3.3.2", "The quality assurance in detail", f"{_DESIGN}-quality_assurance-description", nothing
    yield "3.3.4.1", "Where the form that evaluators saw can be seen", f"{_DESIGN}-what_evaluators_see-link", nothing
    yield "3.3.4.2", "What evaluators see during an assessment", f"{_DESIGN}-what_evaluators_see-description", nothing
    yield (
        *("3.3.5", "How free they are about when and how fast to work", f"{_DESIGN}-evaluator_freedom"),
        {3: "3. Evaluators must complete the whole evaluation within a set amount of time"},
    )
    yield (
        *("3.3.6", "Can they ask, and give feedback?", f"{_DESIGN}-evaluators_can_ask_questions"),
        {
            2: "2. Evaluators are told they can ask any questions during the evaluation",
            3: "3. Evaluators provide feedback after the evaluation",
        },
    )
    yield (
        *("3.3.7", "Conditions of the work", f"{_DESIGN}-experimental_conditions"),
        {1: "1. Evaluators carry out assessments at a place of their own choosing"},
    )
    yield "3.3.8", "How conditions differ between evaluators", f"{_DESIGN}-evaluators_place_of_choosing", nothing
    yield from _criterion_questions()
    yield "5.1", "Which ethics committee approved it", "heds-ethics-review_body", nothing
    yield "5.2", "Is there personal data in outputs or responses?", "heds-ethics-personal_data", UNPICKED
    yield "5.3", "Is there data of special categories?", "heds-ethics-special_category_data", UNPICKED
    yield "5.4", "Impact assessments", "heds-ethics-impact_assessments", nothing


def _criterion_questions() -> Iterator[tuple[str, str, str, dict[int, str]]]:
    nothing: dict[int, str] = {}
    quality, mode = "heds-criteria-criterion-criteria", "heds-criteria-criterion-evaluation_mode"
    yield "4.1.1", "Is it about correctness, goodness or a feature?", f"{quality}-quality_type", UNPICKED
    yield "4.1.2", "Is it about form, content or both?", f"{quality}-output_aspect", UNPICKED
    yield (
        *("4.1.3", "By itself, relative to the input, or to something outside?", f"{quality}-self_vs_external_frame"),
        UNPICKED,
    )
    yield "4.2.1", "Objective or subjective?", f"{mode}-objective_or_subjective", {2: "2. Subjective"}
    yield (
        *("4.2.2", "Absolute or relative?", f"{mode}-absolute_or_relative"),
        {1: "1. Absolute", 2: "2. Relative"},
    )
    yield "4.2.3", "Intrinsic or extrinsic?", f"{mode}-intrinsic_or_extrinsic", {1: "1. Intrinsic"}
    yield "4.3.1.1", "What evaluators see it called", f"{_ASKED}-qc_name-participant_criterion_name", nothing
    yield "4.3.1.2", "Its standardised name (QCET)", f"{_ASKED}-qc_name-mapped_criterion_name", nothing
    # The form itself spells this id so.
    yield "4.3.2", "The definition that evaluators read", f"{_ASKED}-participant_criterion_definiiton", nothing
    yield "4.3.3", "Size of the scale", f"{_ASKED}-size_of_scale", nothing
    yield "4.3.4", "Its values", f"{_ASKED}-list_or_range", nothing
    yield (
        *("4.3.5", "How it is presented", f"{_ASKED}-scale_presented_as"),
        {1: "1. Multiple-choice options", 2: "2. Check-boxes", 3: "3. Slider", 5: "5. Other (please describe)"},
    )
    yield "4.3.6", "The task, if there is no scale", f"{_ASKED}-task_description", nothing
    yield "4.3.7", "The question that stands beside each assessment", f"{_ASKED}-verbatim_question", nothing
    yield (
        *("4.3.8", "Form of elicitation", f"{_ASKED}-form_of_response"),
        {2: "2. Direct quality estimation", 3: "3. Relative quality estimation (including ranking)"},
    )
    yield "4.3.9", "How responses become scores", f"{_ASKED}-response_aggregation", nothing
    yield "4.3.10", "Effect size and significance", f"{_ASKED}-effect_size_method", nothing
    yield "4.3.11.1", "Agreement between evaluators: method", f"{_ASKED}-inter_annotator-agreement", nothing
    yield "4.3.11.2", "Agreement between evaluators: value", f"{_ASKED}-inter_annotator-agreement_score", nothing
    intra = f"{_ASKED}-intra_annotator-intra_annotator_agreement"
    yield "4.3.12.1", "Agreement of evaluators with themselves: method", intra, nothing
    yield "4.3.12.2", "Agreement of evaluators with themselves: value", f"{intra}_score", nothing


QUESTIONS = {one[0]: Question(*one) for one in _questions()}
