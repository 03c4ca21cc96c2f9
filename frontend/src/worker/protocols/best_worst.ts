// Ask which of several replies is the best and which the worst: by mouse, touch and keys.
import type { PageData, WarmUpReply } from "../../generated/page";
import { h, quoted, say } from "../dom";
import { digitOf, HAS_ENTER, isByTouch, isPlain } from "../keys";
import { letterOf } from "../letters";
import { areSame, choiceOf, mergeChoices } from "./choices";
import type { Fields, MergedFields, Protocol, ProtocolWords, Task, TaskOptions } from "./contract";

type Mark = "best" | "worst";

/** The places of the marked replies, as hits/protocols/best_worst.py has them. */
type Marked = Partial<Record<Mark, string>>;

const MARKS: Mark[] = ["best", "worst"];
const OTHER: Record<Mark, Mark> = { best: "worst", worst: "best" };
const TITLES: Record<Mark, string> = { best: "Best", worst: "Worst" };
const KEYS: Record<string, Mark> = { b: "best", w: "worst" };
const HAS_TYPING = "textarea, select, dialog";

const WORDS: ProtocolWords = {
  work: "of the replies of each, you mark the best and the worst",
  notYet: "Nothing is marked yet.",
  allDone: "Both are marked",
  changeAny: "Mark others",
  allTheSame: "Please choose as well as you can all the same.",
  ready: "Both marked: see whether the point would be yours.",
  changed: "Changed since the check: what you have marked when you submit counts.",
  tryAgain: "Not yet. You may mark others and validate again.",
  noMore: "Not like this. What you have marked when you submit still counts.",
  changedElsewhere: "Replies were marked in another tab, too: what was done in both is shown.",
  clashed: "Marked differently in another tab",
};

export function bestWorstProtocol(_data: PageData): Protocol {
  return {
    words: WORDS,
    // Models that all say the same make one reply, and there is nothing to choose.
    missing: (fields, replies) => (replies < 2 || openMark(markedOf(fields)) === undefined ? 0 : replies),
    missingWords: (missing) => (missing === 0 ? "" : "Please mark the best and the worst reply first."),
    unfinishedWords: () => "best or worst not marked",
    isSame: (one, other) => areSame({ ...markedOf(one) }, { ...markedOf(other) }),
    merge,
    makeTask: (options) => new MarkedReplies(options),
    empty: () => ({ marked: {} }),
    fits: (reply, fields, place) => {
      const said = openMark(markedOf(fields)) === undefined ? saidOf(markedOf(fields), place) : null;
      return said === null ? null : (reply as WarmUpReply & { fitting: string[] }).fitting.includes(said);
    },
    howTo,
    picture: (texts) => {
      const replies = texts.map((text, place) => makeReply(text, place, null));
      replies.flatMap((reply) => [...reply.querySelectorAll("input")]).forEach((input) => (input.disabled = true));
      return h("div", { class: "marked-replies" }, ...replies);
    },
  };
}

function markedOf(fields: Fields): Marked {
  return (fields as { marked: Marked }).marked;
}

function openMark(marked: Marked): Mark | undefined {
  return MARKS.find((mark) => marked[mark] === undefined);
}

function saidOf(marked: Marked, place: number): string {
  return MARKS.find((mark) => marked[mark] === String(place)) ?? "neither";
}

/** If one tab made a reply the best and the other made it the worst, the server's mark is the newest, as with choices. */
function merge(known: Fields[], mine: Fields, theirs: Fields): MergedFields {
  const all = (fields: Fields): Record<string, string> => ({ ...markedOf(fields) });
  const { choices, isTheirNews, clashes } = mergeChoices(known.map(all), all(mine), all(theirs));
  const places = new Set(clashes.map((mark) => Number(choices[mark])));
  if (choices["best"] !== undefined && choices["best"] === choices["worst"]) {
    places.add(Number(choices["best"]));
    delete choices[choices["best"] === markedOf(theirs).best ? "worst" : "best"];
  }
  return { fields: { marked: choices }, isTheirNews, clashes: [...places].sort((one, other) => one - other) };
}

function howTo(): HTMLElement {
  const keys = h("span", { class: "hint-keys" }, "By keys: a digit marks the best reply (", h("kbd", {}, "1"), " is A), the next one the worst; ");
  keys.append(h("kbd", {}, "B"), " and ", h("kbd", {}, "W"), " choose which of the two a digit marks, and ", h("kbd", {}, "Enter"));
  keys.append(" goes on; in this warm-up it validates first.");
  return h("p", { class: "hint" }, "Read all replies, then press Best at one and Worst at another; press elsewhere to change it. ", keys);
}

function makeReply(text: string, place: number, note: HTMLElement | null): HTMLElement {
  const id = `reply-${place}`;
  const letter = h("h3", { class: "rated-letter", id }, h("span", { class: "visually-hidden" }, "Reply "), letterOf(place));
  const words = quoted("div", "rated-text", text);
  words.id = `${id}-text`;
  const marks = MARKS.map((mark) =>
    h(
      "label",
      { class: "side" },
      h("input", { type: "radio", name: mark, value: place, "aria-label": `${TITLES[mark]}: reply ${letterOf(place)}` }),
      h("span", { class: "side-face" }, TITLES[mark]),
    ),
  );
  return h(
    "article",
    { class: "marked-reply", "data-reply": place, "aria-labelledby": `${id} ${words.id}` },
    letter,
    words,
    h("div", { class: "marks" }, ...marks),
    note,
  );
}

class MarkedReplies implements Task {
  readonly element: HTMLElement;
  readonly noticePlace: HTMLElement;
  private readonly notes: HTMLElement[];
  private readonly replies: HTMLElement[];
  private readonly said = h("p", { class: "rated-said", role: "status" });
  private readonly listening = new AbortController();

  constructor(private readonly options: TaskOptions) {
    const { texts } = options;
    this.notes = texts.map(() => h("p", { class: "card-note", role: "status", hidden: true, dir: "auto" }));
    this.replies = texts.map((text, place) => makeReply(text, place, this.notes[place]!));
    this.noticePlace = h("div", { class: "rated-foot" }, this.said);
    const isAlone = texts.length < 2;
    if (isAlone) {
      this.replies.forEach((reply) => reply.querySelector(".marks")?.remove());
    }
    this.element = h(
      "div",
      { class: "best-worst" },
      h("div", { class: "marked-replies" }, ...this.replies),
      isAlone && h("p", { class: "hint" }, "Here is one reply only, so there is nothing to choose. Please go on."),
      this.noticePlace,
    );
    this.listen();
    this.refresh();
  }

  begin(describedBy: string): boolean {
    const open = this.openMark();
    if (open === undefined) {
      say(this.said, this.options.whenDone());
      return false;
    }
    if (isByTouch()) {
      return false; // a ring around the first choice would look like an answer
    }
    const radio = this.focusOn(open, true);
    radio?.setAttribute("aria-describedby", describedBy);
    radio?.addEventListener("blur", () => radio.removeAttribute("aria-describedby"), { once: true });
    return true;
  }

  refresh(): void {
    this.replies.forEach((reply, place) => {
      const said = saidOf(this.marked, place);
      reply.dataset["said"] = said;
      for (const radio of reply.querySelectorAll("input")) {
        radio.checked = radio.name === said;
      }
    });
  }

  note(place: number, words: string, isPraise: boolean): void {
    const note = this.notes[place];
    if (note !== undefined) {
      note.hidden = words === "";
      note.classList.toggle("card-note-good", isPraise);
      say(note, words);
    }
  }

  sayWhatIsLeft(): void {
    const left = MARKS.filter((mark) => this.marked[mark] === undefined);
    say(this.said, this.openMark() === undefined ? this.options.whenDone() : `Now mark the ${left.join(" and the ")}.`);
  }

  showAll(): void {
    // Nothing is hidden: all replies stand there with their marks.
  }

  destroy(): void {
    this.listening.abort();
  }

  // --- Answering ---

  private get marked(): Marked {
    return markedOf(this.options.fields());
  }

  private openMark(): Mark | undefined {
    return this.options.texts.length < 2 ? undefined : openMark(this.marked);
  }

  private listen(): void {
    const { signal } = this.listening;
    const changed = ({ target }: Event): void => {
      if (target instanceof HTMLInputElement) {
        this.mark(target.name as Mark, Number(target.value));
      }
    };
    this.element.addEventListener("change", changed, { signal });
    document.addEventListener("keydown", (event) => this.keyPressed(event), { signal });
  }

  /** Marks the reply. If it had the other mark, that one is open again: no reply is the best and the worst. */
  private mark(mark: Mark, place: number): void {
    const { marked } = this;
    if (marked[OTHER[mark]] === String(place)) {
      delete marked[OTHER[mark]];
    }
    marked[mark] = String(place);
    this.notes.forEach((_, at) => this.note(at, "", false));
    this.refresh();
    this.options.onMove(place, choiceOf(mark));
    this.sayWhatIsLeft();
  }

  private keyPressed(event: KeyboardEvent): void {
    const isIn = (selector: string): boolean => event.target instanceof Element && event.target.closest(selector) !== null;
    const { length } = this.options.texts;
    if (length < 2 && event.key !== "Enter" || !isPlain(event) || event.defaultPrevented || document.querySelector("dialog[open]") !== null) {
      return;
    }
    const digit = isIn(HAS_TYPING) ? null : digitOf(event);
    const place = digit === 0 ? 9 : (digit ?? 0) - 1;
    const wanted = isIn(HAS_TYPING) ? undefined : KEYS[event.key.toLowerCase()];
    if (place >= 0 && place < length) {
      event.preventDefault();
      const mark = this.focusedMark() ?? this.openMark() ?? "worst";
      this.mark(mark, place);
      this.focusOn(this.openMark() ?? mark, false);
    } else if (wanted !== undefined) {
      event.preventDefault();
      this.focusOn(wanted, false);
    } else if (event.key === "Enter" && !event.repeat && !isIn(HAS_ENTER)) {
      event.preventDefault();
      this.goOn();
    }
  }

  private goOn(): void {
    const open = this.openMark();
    if (open === undefined) {
      this.options.onDone();
    } else {
      this.focusOn(open, false);
      this.sayWhatIsLeft();
    }
  }

  private focusedMark(): Mark | undefined {
    const focused = document.activeElement;
    return focused instanceof HTMLInputElement && this.element.contains(focused) ? (focused.name as Mark) : undefined;
  }

  private focusOn(mark: Mark, preventScroll: boolean): HTMLInputElement | undefined {
    const radios = [...this.element.querySelectorAll<HTMLInputElement>(`input[name="${mark}"]`)];
    const radio = radios.find((one) => one.checked) ?? radios[0];
    radio?.focus({ preventScroll });
    return radio;
  }
}
