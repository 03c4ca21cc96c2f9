"""What a reasoning model thinks is kept, and never part of what a worker reads."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from generation.corpora.lines import Problem
from generation.generating import answer_chunk
from generation.importing import ImportOptions, import_candidates
from generation.loading import Loader
from generation.models import Candidate, GenerationRun
from generation.registering import Registration, register_generator
from generation.run_requests import count_failures, request_run
from generation.thoughts import is_open_thought, split_thoughts
from tests.conftest import WriteFile
from tests.generation.chat_server import ChatServer, chat_server, said
from tests.generation.scripted_runs import make_dialogs
from tests.pages import html_of

THOUGHT, REPLY = "She lost her dog. Be kind.", "Oh no, I am so sorry!"


ORDINARY = [
    "analysis paralysis, I know it.",
    "analysis: you need sleep. My final word.",
    "Analysis shows that dogs come back.",
    "analysis",
    "thought so.\nMe too.",
    "finally!",
    "The assistant finally came, and the assistant's analysis was good.",
    'What does "<think>" mean?',
    "It put “<think>” and “</think>” around it.",
    "Write `<think>` before and `</think>` behind it.",
    'She said "no", and "<thinking>", and "</thinking>", and "yes".',
    "Here is my response: no!",
    "I said: here is my thought process: none.",
    "Thought: nothing. Answer: everything.",
    "Thought: it will rain.\nI was wrong.",
    "<details>Ask her</details> about it.",
    "The <output> of it is 1 &lt; 2.",
    "My assistant\nfinally came.",
    "A family: \U0001f468\u200d\U0001f469\u200d\U0001f467",
    "I (think)... [thinking] hm [/b]",
]


@pytest.mark.parametrize(
    "text",
    [
        f"<think>{THOUGHT}</think>{REPLY}",
        f"<think>\n{THOUGHT}\n</think>\n\n{REPLY}\n",
        f"{THOUGHT}\n</think>\n{REPLY}",
        f"<THINK>{THOUGHT}</Think> {REPLY}",
        f'<think time="3 s" depth=2>{THOUGHT}</think >{REPLY}',
        f"< think >{THOUGHT}< / think >{REPLY}",
        f"{REPLY} <think>{THOUGHT}",
        f"{REPLY}<thinking>{THOUGHT}</thinking>",
        f"<thought>{THOUGHT}</thought>{REPLY}",
        f"<reasoning>{THOUGHT}</reasoning>{REPLY}",
        f"<seed:think>{THOUGHT}</seed:think>{REPLY}",
        f"[THINK]{THOUGHT}[/THINK]{REPLY}",
        f"◁think▷{THOUGHT}◁/think▷{REPLY}",
        f"<|begin_of_thought|>{THOUGHT}<|end_of_thought|>{REPLY}",
        f"<think></think>{THOUGHT}</think>{REPLY}",
        f"<|channel|>analysis<|message|>{THOUGHT}<|end|><|start|>assistant<|channel|>final<|message|>{REPLY}<|return|>",
        f"{THOUGHT}<|end|><|start|>assistant<|channel|>final<|message|>{REPLY}",
        f"analysis{THOUGHT}assistantfinal{REPLY}",
        f"analysis\n{THOUGHT}\nassistantfinal\n{REPLY}",
        f"assistantanalysis{THOUGHT}assistantfinal{REPLY}",
        f"{THOUGHT}assistantfinal{REPLY}",
        f"<|channel>thought\n{THOUGHT}\n<channel|>{REPLY}",
        f"<|channel>thought\n{THOUGHT}<channel|>{REPLY}<|channel>thought\n",
        f"{THOUGHT}\n<channel|>{REPLY}",
        f"<think_start>{THOUGHT}<think_end>{REPLY}",
        f"<|start_of_reasoning|>{THOUGHT}<|end_of_reasoning|>{REPLY}",
        f"Here is my thought process:\n{THOUGHT}\n\nHere is my response:\n{REPLY}",
        f"Here's my thought process: {THOUGHT} Here's my response: {REPLY}",
        f"<longcat_think>{THOUGHT}</longcat_think>{REPLY}",
        f"<scratch_pad>{THOUGHT}</scratch_pad>\n{REPLY}",
        f"<unused94>thought\n{THOUGHT}<unused95>{REPLY}",
        f'<details type="reasoning" done="true">{THOUGHT}</details>\n{REPLY}',
        f"<details>\n<summary>Thoughts (3 s)</summary>\n{THOUGHT}\n</details>\n{REPLY}",
        f"[think]{THOUGHT}[/think]{REPLY}",
        f"[THINKING]{THOUGHT}[/THINKING]{REPLY}",
        f"{THOUGHT}[/think]{REPLY}",
        f"<reasoning_content>{THOUGHT}</reasoning_content>{REPLY}",
        f"&lt;think&gt;{THOUGHT}&lt;/think&gt;{REPLY}",
        f"＜think＞{THOUGHT}＜/think＞{REPLY}",
        f"<\u200bthink>{THOUGHT}</th\u200bink>{REPLY}",
        f"analysis\n{THOUGHT}\nassistant\nfinal\n{REPLY}",
        f"<think>{THOUGHT}</think><|begin_of_box|>{REPLY}<|end_of_box|>",
        f"<think>{THOUGHT}</think><output>{REPLY}</output>",
        f"<|im_start|>think\n{THOUGHT}\n<|im_start|>answer\n{REPLY}<|im_end|>",
        f"<|think|>{THOUGHT}<|begin|>assistant<|content|>{REPLY}",
        f"<think_never_used_51bce0c785ca2f68>{THOUGHT}</think_never_used_51bce0c785ca2f68>{REPLY}",
        f"**Thinking:** {THOUGHT}\n\n**Response:** {REPLY}",
        f"Thought: {THOUGHT}\nFinal answer: {REPLY}",
        f"```thinking\n{THOUGHT}\n```\n{REPLY}",
    ],
)
def test_marks_of_thinking_tell_thoughts_from_the_reply(text: str) -> None:
    assert split_thoughts(text) == (REPLY, THOUGHT)


@pytest.mark.parametrize(
    "text", ["I think so.", "a < b > c", "<i>Think!</i>", "  <thinker> ", "[think] about it", *ORDINARY]
)
def test_words_about_thinking_are_no_marks(text: str) -> None:
    assert split_thoughts(text) == (text, "")


@pytest.mark.parametrize(
    "text", [f"<|begin_of_box|>{REPLY}<|end_of_box|>", f"<output>{REPLY}</output>", f"\n<answer>\n{REPLY}\n</answer>"]
)
def test_an_answer_that_stands_in_its_own_marks_is_shown_without_them(text: str) -> None:
    """As it comes from a server that has taken the thoughts away by itself."""
    assert split_thoughts(text) == (REPLY, "")


@pytest.mark.parametrize(
    "text",
    [
        f"Here is my thought process: {THOUGHT}",
        f'<details type="reasoning">{THOUGHT}',
        f"analysis{THOUGHT}",
        f"analysis{THOUGHT}assistantcommentary{THOUGHT}",
        f"<|channel|>analysis<|message|>{THOUGHT}<|end|>",
        f"<|channel|>analysis {THOUGHT}",
        f"<|channel>thought\n{THOUGHT}",
        f"thought\n{THOUGHT}{REPLY}",  # where they end was dropped with the marks
        f"{THOUGHT}assistantfinal",
        f'<think>Is "<think>" a word? {THOUGHT}',
    ],
)
def test_of_thoughts_alone_nothing_is_left_to_show(text: str) -> None:
    reply, thoughts = split_thoughts(text)

    assert reply == ""
    assert THOUGHT in thoughts


@pytest.mark.parametrize(
    "text",
    [
        f'{THOUGHT} "Poor dog."</think>"{REPLY}"',
        f'<think>{THOUGHT} "Poor dog."</think>"{REPLY}"',
        f'{THOUGHT} Should I say "<think>"? No.</think>"{REPLY}"',
    ],
)
def test_quotations_on_both_sides_of_an_end_do_not_hide_it(text: str) -> None:
    assert split_thoughts(text)[0] == f'"{REPLY}"'


@given(st.data())
def test_no_thought_is_ever_shown_whatever_stands_in_it(data: st.DataObject) -> None:
    marks = data.draw(
        st.sampled_from(
            [
                ("<think>", "</think>"),
                ("", "</think>"),
                ("[THINK]", "[/THINK]"),
                ("<|channel>thought\n", "<channel|>"),
                ("", "<channel|>"),
                ("analysis", "assistantfinal"),
                ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
                ("<|START_THINKING|>", "<|END_THINKING|>"),
            ]
        )
    )
    # Behind a thought that nothing opened, a mark that opens one can't be told from a reply's second thought.
    pieces = [*"a “ ” ` ' \" analysis final assistant <b> thought".split(), "\n", *(["<think>"] if marks[0] else [])]
    words = st.lists(st.sampled_from(pieces))
    thought = " ".join([*data.draw(words), "SECRET", *data.draw(words)])

    reply, thoughts = split_thoughts(f"{marks[0]}{thought}{marks[1]}Oh no!")

    assert reply == "Oh no!"
    assert "SECRET" in thoughts


def test_many_marks_that_nobody_closes_take_no_time() -> None:
    for text in (
        "<think " * 50_000,
        "<" * 200_000,
        "<think>" * 50_000,
        "<" + "a" * 200_000,
        "<|channel|>a" * 20_000,
        "`<think>`" * 50_000,
        "<|channel>" * 50_000,
        "assistantanalysis" * 50_000,
        "analysis" * 50_000,
        "[think]" * 50_000,
        "[/think]" + "[think]" * 50_000,
        "thought:" + "\n" * 200_000,
        "thought:" + "\nanswer" * 50_000,
        "<answer>" + "</answer>" * 50_000 + "x",
        "<details>" + " " * 200_000,
        "```thinking\n\n```" * 50_000,
        "Here is my thought process: a. Here is my response: " * 20_000,
        "<th\u200bink>" * 50_000,
        "&lt;" * 50_000,
        "a_" * 100_000,
        "<a_" * 60_000,
    ):
        split_thoughts(text)


def test_a_template_may_open_the_thoughts() -> None:
    assert is_open_thought("<|im_start|>assistant\n<think>\n")
    assert not is_open_thought("<|im_start|>assistant\n<think>\n\n</think>\n\n")
    assert is_open_thought("<|turn>model\n<|channel>thought\n")
    assert not is_open_thought("<|turn>model\n<|channel>thought\n<channel|>")
    assert is_open_thought("<|start|>assistant<|channel|>analysis<|message|>")
    assert not is_open_thought("<|start|>assistant<|channel|>final<|message|>")
    assert not is_open_thought("What does <think> mean?<|im_start|>assistant\n")


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with chat_server() as server:
        yield server


def let_answer(server: ChatServer, **settings: Any) -> GenerationRun:
    settings = {"url": server.url, "attempts": 1, **settings}
    generator = register_generator(Registration("thinker", "openai-compatible", "m", settings))
    run = request_run(generator, make_dialogs("My dog ran away."))
    answer_chunk(run.chunks.get(), Loader().get, timezone.now)
    return run


@pytest.mark.django_db
@pytest.mark.parametrize(
    "message",
    [
        said(f"<think>{THOUGHT}</think>{REPLY}"),
        said(REPLY, reasoning_content=THOUGHT),
        said(REPLY, reasoning=THOUGHT, reasoning_content=THOUGHT),
        said([{"type": "thinking", "thinking": [{"text": THOUGHT}]}, {"type": "text", "text": REPLY}]),  # type: ignore[arg-type]
    ],
)
def test_a_servers_thoughts_are_kept_apart_and_no_worker_reads_them(server: ChatServer, message: Any) -> None:
    server.for_all = (200, message)

    let_answer(server)

    candidate = Candidate.objects.get()
    assert (candidate.text, candidate.display_text, candidate.thoughts) == (REPLY, REPLY, THOUGHT)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (said(f"<think>{THOUGHT}</think> "), "nothing but thoughts"),
        (said(f"<think>{THOUGHT}"), "nothing but thoughts"),
        (said(None, reasoning_content=THOUGHT), "nothing but thoughts"),
        (said(None, "length", reasoning_content=THOUGHT), "endless: it was still thinking"),
    ],
)
def test_nothing_but_thoughts_is_a_failure_with_its_reason(server: ChatServer, message: Any, reason: str) -> None:
    server.for_all = (200, message)

    assert count_failures(let_answer(server)) == {reason: 1}
    assert not Candidate.objects.exists()


@pytest.mark.django_db
def test_imported_replies_come_in_without_their_thoughts(write_lines: WriteFile) -> None:
    make_dialogs("a", "b", "c")
    problems: list[Problem] = []
    file = write_lines(
        {"id": "a", "generator": "R1", "reply": f"<think>{THOUGHT}</think>\n\n{REPLY}"},
        {"id": "b", "candidates": {"R1": f"{THOUGHT}</think>{REPLY}", "plain": REPLY}},
        {"id": "c", "generator": "R1", "reply": f"<think>{THOUGHT}"},
    )

    counts = import_candidates(file, "D", options=ImportOptions(on_problem=problems.append))
    again = import_candidates(file, "D")

    assert (counts.added, counts.rejected, again.known, again.conflicts) == (3, 1, 3, 0)
    assert [(problem.line, problem.reason) for problem in problems] == [(3, "reply is nothing but thoughts")]
    found = Candidate.objects.values_list("dialog__external_id", "generator__name", "text", "thoughts")
    assert set(found) == {("a", "R1", REPLY, THOUGHT), ("b", "R1", REPLY, THOUGHT), ("b", "plain", REPLY, "")}


@pytest.mark.django_db
def test_a_csv_of_replies_comes_in_without_thoughts(write_lines: WriteFile) -> None:
    make_dialogs("a")
    file = write_lines("id,generator,reply", f"a,R1,<think>{THOUGHT}</think>{REPLY.replace(',', '')}", name="r.csv")

    call_command("import_candidates", str(file), dataset="D")

    assert (Candidate.objects.get().text, Candidate.objects.get().thoughts) == (REPLY.replace(",", ""), THOUGHT)


@pytest.mark.django_db
def test_a_researcher_finds_the_thoughts_on_the_dialogs_page(server: ChatServer, researcher_client: Client) -> None:
    server.for_all = (200, said(REPLY, reasoning_content=THOUGHT))
    let_answer(server)

    page = html_of(researcher_client.get(f"/dialogs/{Candidate.objects.get().dialog_id}/"))

    assert THOUGHT in page
    assert "workers don't see this" in page


@pytest.mark.parametrize(
    "text",
    [
        "<|START_THINKING|>Be kind.<|END_THINKING|><|START_RESPONSE|>Oh no!<|END_RESPONSE|>",
        "<|think|>Be kind.<|/think|>Oh no!",
        "<scratchpad>Be kind.</scratchpad> Oh no!",
        "<thought_process>Be kind.</thought_process>Oh no!",
        "<think>Be kind.</think><answer>Oh no!</answer>",
    ],
)
def test_other_marks_of_thinking_are_known_too(text: str) -> None:
    assert split_thoughts(text) == ("Oh no!", "Be kind.")
