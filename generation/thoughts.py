"""Separate what a reasoning model thinks (<think>...</think> and the like) from its reply. Workers read only the reply.

In: a text as a model wrote it. Out: the reply, and the thoughts. Guaranteed: text between marks of thinking, after a
mark that is never closed, or before an end without a beginning (chat templates write the beginning themselves), is
never part of the reply. A mark that is quoted ("<think>") is a word like others.
"""

import re
from collections.abc import Iterable, Iterator

NOTHING_BUT_THOUGHTS = "nothing but thoughts"

# Names of thinking tags, alone or as one of several words: longcat_think, thought_process, scratch_pad.
_WORD = (
    r"(?:think|thinking|thoughts?|reasoning|reflection|scratch_?pad|inner_monologue|analysis|inner_prefix|rationale)"
)
_NAME = rf"(?:(?:[a-z]{{1,20}}[_-])?{_WORD}(?:[_-][a-z]{{1,20}})?|cot|reason)"
# Brackets may be plain, escaped for HTML, or in the full width of East Asian fonts.
_LEFT, _RIGHT = "(?:<|&lt;|＜)", "(?:>|&gt;|＞)"

# Marks that open and close thoughts, and which models write them. A closing mark alone closes a thought that the chat
# template opened.
_FORMS = (
    # Hunyuan, whose tag has a number that occurs in no other text; Claude
    (r"<think_never_used_\w{1,40}>|<antThinking>", r"</think_never_used_\w{1,40}>|</antThinking>"),
    # Solar, which closes its thoughts by beginning a new message
    (rf"<\|{_WORD}\|>", rf"<\|/{_WORD}\|>|<\|begin\|>assistant<\|content\|>"),
    # Sky-T1 and OpenThinker (<|begin_of_thought|>), Cohere (<|START_THINKING|>)
    (rf"<\|?(?:begin|start)_(?:of_)?{_WORD}\|?>", rf"<\|?end_(?:of_)?{_WORD}\|?>"),
    # Tags such as <think_start>
    (rf"<\|?{_WORD}_(?:begin|start)\|?>", rf"<\|?{_WORD}_end\|?>"),
    # Magistral
    (r"(?-i:\[THINK(?:ING)?\])", r"(?-i:\[/THINK(?:ING)?\])"),
    # The same in small letters. A person may write that, too, so it counts only if it is closed later.
    (r"(?P<weak>\[think(?:ing)?\])", r"\[/think(?:ing)?\]"),
    # Kimi
    (r"◁think▷", r"◁/think▷"),
    # Gemma 3n and later; MedGemma, whose marks have no names
    (r"<\|channel>(?!\s?final)\s?(?:thought|analysis|commentary)?", r"<channel\|>"),
    (r"<unused94>(?:\s?thought\b)?", r"<unused95>"),
    # s1
    (r"<\|im_start\|>think\b", r"<\|im_start\|>answer\b"),
    # DeepSeek R1, Qwen 3, EXAONE (<thought>), Reflection, Seed (<seed:think>), LongCat (<longcat_think>), Hermes
    # (<scratch_pad>), prompts of all kinds (<scratchpad>, <thinking mode="x">, <reasoning_content>)
    (
        rf"{_LEFT}\s{{0,2}}(?:\w{{1,20}}:)?{_NAME}(?:\s[^<>]{{0,200}})?/?{_RIGHT}",
        rf"{_LEFT}\s{{0,2}}/\s?(?:\w{{1,20}}:)?{_NAME}(?:\s[^<>]{{0,200}})?{_RIGHT}",
    ),
)
_MARK = re.compile("|".join(f"(?P<end_{number}>{end})|{start}" for number, (start, end) in enumerate(_FORMS)), re.I)

# Whole thoughts at the beginning of a text, and which models write them. What follows is the reply.
_WHOLE = tuple(
    re.compile(rf"\s*{start}(?P<thought>.*?)(?:{end}|\Z)", re.I | re.S)
    for start, end in (
        # Granite 3.2
        (r"here(?:'s|’s| is) my thought process:", r"here(?:'s|’s| is) my response:"),
        # Open WebUI, when its replies are exported
        (r'<details\b[^<>]{0,200}\btype="reasoning"[^<>]{0,200}>', r"</details>"),
        (r"<details>\s*<summary>(?:thinking|thoughts?|reasoning)\b[^<>]{0,50}</summary>", r"</details>"),
        (r"```(?:thinking|thoughts?|reasoning)[ \t]*\n", r"\n```"),
    )
)
# Labels that prompts ask for ("Thought: ... Answer: ..."). Both have to begin a line: "Thought: ..." alone may be a
# reply.
_LABELLED = re.compile(
    r"\s*\**(?:thoughts?|thinking|reasoning|analysis)(?::\**|\**:)(?P<thought>.*?)"
    r"\n[ \t]{0,8}\**(?:final )?(?:response|answer|reply|final)(?::\**|\**:)",
    re.I | re.S,
)
_ZERO_WIDTH = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))
# OpenAI's "harmony": channels of which only the one named final is for the reader.
_CHANNEL = re.compile(r"<\|channel\|>\s?(?P<name>\w{1,20})(?:[^<]{0,100}(?:<\|constrain\|>\w{1,20})?<\|message\|>)?")
_HARMONY = re.compile(r"<\|(?:start|end|return|call|channel|message)\|>(?:assistant(?=<\||$))?")
# The same after a decoder dropped the marks: "analysisBe kind.assistantfinalOh no!". No English text looks like that. A
# reply that begins with the word "analysis" is left alone.
_BARE_CHANNEL = re.compile(r"assistant(?:\n(?=(?:final|analysis|commentary)\n))?(?P<name>final|analysis|commentary)")
_BARE_START = re.compile(
    r"\s*(?:(?P<glued>analysis|commentary)(?=[^\W_])|(?P<apart>analysis|commentary)\b|(?P<final>final)(?=[A-Z][a-z' ]))"
)
# Gemma's thoughts after a decoder dropped the marks: nobody can tell where they end, so nothing of the text is shown.
_BARE_THOUGHT = re.compile(r"\s*thought\n")
# Some models put these around the answer after their thoughts: tags that a reply may also contain by itself, and marks
# that none does.
_TAG = r"(?:answer|response|final_answer|output)"
_ANSWER = re.compile(rf"</?{_TAG}>|<\|(?:begin|end)_of_(?:solution|box)\|>|<\|(?:START|END)_RESPONSE\|>|<\|im_end\|>")
_ALL_ANSWER = re.compile(rf"\s*(?:<\|begin_of_box\|>(.*)<\|end_of_box\|>|<({_TAG})>(.*)</\2>)\s*", re.S)
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "«": "»", "„": "“"}


def split_thoughts(text: str, begins_in_thought: bool = False) -> tuple[str, str]:
    """Return (reply, thoughts), both stripped, or the text as it is and "" if it holds no thoughts.

    >>> split_thoughts("<think>Be kind.</think> Oh no!")
    ('Oh no!', 'Be kind.')
    >>> split_thoughts("Be kind.</THINK>Oh no!")
    ('Oh no!', 'Be kind.')
    >>> split_thoughts("Oh no! <think>Was that kind?")
    ('Oh no!', 'Was that kind?')
    >>> split_thoughts("analysisBe kind.assistantfinalOh no!")
    ('Oh no!', 'Be kind.')
    >>> split_thoughts('What does "<think>" mean?')
    ('What does "<think>" mean?', '')
    """
    text = _reveal_hidden_marks(text)
    text, of_whole = (text, []) if begins_in_thought else _split_leading_thoughts(text)
    channels = _split_channels(text, begins_in_thought)
    before_marks = _join_parts([*of_whole, *(part for name, part in channels if name != "final")])
    if channels:
        text, begins_in_thought = _join_parts(part for name, part in channels if name == "final"), False
    said: list[str] = []
    thought: list[str] = []
    offset, is_thinking, has_marks = 0, begins_in_thought, begins_in_thought
    for mark in _find_marks(text):
        has_marks = True
        part, offset = text[offset : mark.start()], mark.end()
        if _is_end(mark):
            # After an end without a beginning, all that came before it was thought.
            thought += [part] if is_thinking else [*said, part]
            said = said if is_thinking else []
            is_thinking = False
        else:
            (thought if is_thinking else said).append(part)
            is_thinking = True
    if not has_marks:
        return _unwrap_answer(text), before_marks
    (thought if is_thinking else said).append(text[offset:])
    return _join_parts(_ANSWER.sub("", part) for part in said), _join_parts([before_marks, *thought])


def is_open_thought(prompt: str) -> bool:
    """Return whether a prompt ends inside of thoughts that the model continues, as some chat templates make it."""
    marks = [(mark.end(), not _is_end(mark)) for mark in _find_all_marks(prompt)]
    marks += [(channel.end(), channel["name"] != "final") for channel in _CHANNEL.finditer(prompt)]
    end, is_open = max(marks, default=(0, False))
    return is_open and not prompt[end:].strip()


def has_marks(text: str) -> bool:
    return any(True for _ in _find_all_marks(text)) or bool(_CHANNEL.search(text))


def _find_marks(text: str) -> Iterator[re.Match[str]]:
    """Return the marks that are not quoted. A closing mark between quotation marks counts, because they may belong to
    the thought before it and the reply after it; unless an opening mark was quoted before."""
    counts = dict.fromkeys(_QUOTES, 0)
    offset, has_quoted = 0, False
    for mark in _find_all_marks(text):
        for quote in counts:
            counts[quote] += text.count(quote, offset, mark.start())
        offset = mark.start()
        before, after = text[offset - 1 : offset], text[mark.end() : mark.end() + 1]
        # A quotation mark that looks the same at both ends opens if an odd number of them has been seen.
        is_opened = before in _QUOTES and (_QUOTES[before] != before or counts[before] % 2 == 1)
        if is_opened and after == _QUOTES[before] and (has_quoted or not _is_end(mark)):
            has_quoted = True
        else:
            yield mark


def _find_all_marks(text: str) -> Iterator[re.Match[str]]:
    lowered = text.lower()
    last_end = max(lowered.rfind("[/think]"), lowered.rfind("[/thinking]"))
    return (mark for mark in _MARK.finditer(text) if not mark["weak"] or mark.start() < last_end)


def _is_end(mark: re.Match[str]) -> bool:
    return (mark.lastgroup or "").startswith("end_")


def _reveal_hidden_marks(text: str) -> str:
    """Remove zero-width characters if they hide marks."""
    bare = text.translate(_ZERO_WIDTH)
    if len(bare) == len(text) or len(_MARK.findall(bare)) == len(_MARK.findall(text)):
        return text
    return bare


def _split_leading_thoughts(text: str) -> tuple[str, list[str]]:
    """Return the text that follows the thoughts at its beginning, and these thoughts."""
    offset, thoughts = 0, []
    while found := next((one for pattern in (*_WHOLE, _LABELLED) if (one := pattern.match(text, offset))), None):
        offset = found.end()
        thoughts.append(found["thought"])
    return (text[offset:].strip() if thoughts else text), thoughts


def _unwrap_answer(text: str) -> str:
    """Remove answer tags that enclose the whole text. (After thoughts, the caller removes them wherever they are.)"""
    found = _ALL_ANSWER.fullmatch(text)
    return (found[1] if found[1] is not None else found[3]).strip() if found else text


def _split_channels(text: str, begins_in_thought: bool) -> list[tuple[str, str]]:
    """Return (name, text) of each channel, if the text has channels."""
    if marks := list(_CHANNEL.finditer(text)):
        # What comes before a final channel was opened by the chat template, and was thought.
        is_thought = begins_in_thought or marks[0]["name"] == "final"
        return [
            (name, _HARMONY.sub("", part))
            for name, part in _split_at_marks(text, marks, "analysis" if is_thought else "final")
        ]
    if _BARE_THOUGHT.match(text):
        return [("thought", _BARE_THOUGHT.sub("", text, count=1))]
    marks = list(_BARE_CHANNEL.finditer(text))
    start = _BARE_START.match(text)
    if start and (marks or not start["apart"]):
        marks = [start, *(mark for mark in marks if mark.start() >= start.end())]
    if not any(mark.re is _BARE_START or mark["name"] == "final" for mark in marks):
        return []
    return _split_at_marks(text, marks, "analysis")


def _split_at_marks(text: str, marks: list[re.Match[str]], before: str) -> list[tuple[str, str]]:
    parts = [(before, text[: marks[0].start()])]
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    for mark, end in zip(marks, ends, strict=True):
        is_final = "final" in (mark.groupdict().get("name"), mark.groupdict().get("final"))
        parts.append(("final" if is_final else "analysis", text[mark.end() : end]))
    return parts


def _join_parts(parts: Iterable[str]) -> str:
    return "\n".join(part.strip() for part in parts if part.strip())
