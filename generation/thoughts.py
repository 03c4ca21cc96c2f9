"""What a reasoning model thinks before it answers, told from what it answers. Workers read the answer alone.

In: a text as a model wrote it. Out: the reply, and the thoughts. Guaranteed: what stands between marks of thinking, or
behind one that is never closed, or before one that closes what was never opened (chat templates open it themselves),
is never part of the reply.
"""

import re
from collections.abc import Iterable

NOTHING_BUT_THOUGHTS = "nothing but thoughts"

# <think>, <thinking mode="x">, <seed:think>, <scratchpad>, [THINK], ◁think▷, <|begin_of_thought|>, <|START_THINKING|>,
# <|/think|>; an end has a slash or an "end".
_MARK = re.compile(
    r"<\s?(?P<slash>/?)\s?(?:\w{1,20}:)?(?:think|thinking|thoughts?|thought_process|reasoning|reflection|scratchpad|"
    r"inner_monologue|analysis)(?:\s[^<>]{0,200})?/?>"
    r"|<\|(?P<pipe_slash>/?)(?:think|thinking|thought|reasoning|inner_prefix)\|>"
    r"|<\|(?P<thinking>START|END)_THINKING\|>"
    r"|(?-i:\[(?P<bracket_slash>/?)THINK\])"
    r"|◁(?P<arrow_slash>/?)think▷"
    r"|<\|(?P<word>begin|end)_of_thought\|>",
    re.IGNORECASE,
)
# OpenAI's "harmony": channels of which only the one named final is for the reader.
_CHANNEL = re.compile(r"<\|channel\|>\s?(?P<name>\w{1,20})[^<]{0,100}<\|message\|>")
# What some models put around the answer that follows.
_ANSWER = re.compile(
    r"</?(?:answer|response|final_answer)>|<\|(?:begin|end)_of_solution\|>|<\|(?:START|END)_RESPONSE\|>"
)
_HARMONY = re.compile(r"<\|(?:start|end|return|channel|message)\|>(?:assistant(?=<\||$))?")


def split_thoughts(text: str) -> tuple[str, str]:
    """(reply, thoughts), both stripped where there is anything to tell apart; else the text as it is.

    >>> split_thoughts("<think>Be kind.</think> Oh no!")
    ('Oh no!', 'Be kind.')
    >>> split_thoughts("Be kind.</THINK>Oh no!")
    ('Oh no!', 'Be kind.')
    >>> split_thoughts("Oh no! <think>Was that kind?")
    ('Oh no!', 'Was that kind?')
    """
    text, of_channels = _split_channels(text)
    said: list[str] = []
    thought: list[str] = []
    place, is_thinking, has_marks = 0, False, False
    for mark in _MARK.finditer(text):
        has_marks = True
        part, place = text[place : mark.start()], mark.end()
        if _is_end(mark):
            # Of an end without a beginning: all that came before it was thought.
            thought += [part] if is_thinking else [*said, part]
            said = said if is_thinking else []
            is_thinking = False
        else:
            (thought if is_thinking else said).append(part)
            is_thinking = True
    if not has_marks:
        return (text.strip(), of_channels) if of_channels else (text, "")
    (thought if is_thinking else said).append(text[place:])
    return _joined(_ANSWER.sub("", part) for part in said), _joined([of_channels, *thought])


def is_open_thought(prompt: str) -> bool:
    """Whether a prompt, as some chat templates make it, ends within thoughts that the model goes on with."""
    marks = list(_MARK.finditer(prompt))
    return bool(marks) and not _is_end(marks[-1]) and not prompt[marks[-1].end() :].strip()


def has_marks(text: str) -> bool:
    return bool(_MARK.search(text) or _CHANNEL.search(text))


def _is_end(mark: re.Match[str]) -> bool:
    slashes = (mark["slash"], mark["bracket_slash"], mark["arrow_slash"], mark["pipe_slash"])
    return any(slashes) or "end" in ((mark["word"] or "").lower(), (mark["thinking"] or "").lower())


def _split_channels(text: str) -> tuple[str, str]:
    marks = list(_CHANNEL.finditer(text))
    if not marks:
        return text, ""
    said: list[str] = [text[: marks[0].start()]]
    thought: list[str] = []
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    for mark, end in zip(marks, ends, strict=True):
        (said if mark["name"] == "final" else thought).append(text[mark.end() : end])
    return _joined(_HARMONY.sub("", part) for part in said), _joined(_HARMONY.sub("", part) for part in thought)


def _joined(parts: Iterable[str]) -> str:
    return "\n".join(part.strip() for part in parts if part.strip())
