// Compare two replies: by mouse, touch and keys, on one or more questions.
import { h, quoted, say } from "../../dom";
import { digitOf, HAS_ENTER, isByTouch, isPlain } from "../../keys";
import { letterOf } from "../../letters";
import { choiceOf } from "../choices";
import type { Task, TaskOptions } from "../contract";

const TYPES_DIGITS = "textarea, select, dialog";
const LONGEST_WHY = 1000;

export interface Question {
  name: string;
  label: string;
  question: string;
}

/** A protocol's own part of an answer, as hits/protocols/pairs.py has it. */
export interface PairFields {
  better: Record<string, string>;
  why: string;
}

export interface ComparedRepliesOptions extends TaskOptions {
  questions: Question[];
  /** Returns what the task reads and changes. It is a function, because a conflict replaces it. */
  pair(): PairFields;
  mayTie: boolean;
  mayRejectBoth: boolean;
  asksWhy: boolean;
}

interface Side {
  value: string;
  words: string;
  digit: number;
}

export class ComparedReplies implements Task {
  readonly element: HTMLElement;
  readonly noticePlace: HTMLElement;
  private readonly notes: HTMLElement[];
  private readonly groups: HTMLFieldSetElement[];
  private readonly why = h("textarea", { id: "why", rows: 2, maxlength: LONGEST_WHY, dir: "auto" });
  private readonly said = h("p", { class: "rated-said", role: "status" });
  private readonly listening = new AbortController();
  private readonly sides: Side[];

  constructor(private readonly options: ComparedRepliesOptions) {
    const { texts, questions, asksWhy } = options;
    const hasTwo = texts.length > 1;
    this.sides = sidesOf(options);
    this.notes = texts.map(() => h("p", { class: "card-note", role: "status", hidden: true, dir: "auto" }));
    const replies = texts.map((text, place) => makeReply(text, place, this.notes[place]!));
    this.groups = hasTwo ? questions.map((question) => this.makeGroup(question)) : [];
    this.noticePlace = h("div", { class: "rated-foot" }, this.said);
    this.element = h(
      "div",
      { class: "pairs" },
      h("div", { class: "pair" }, ...replies),
      ...this.groups,
      !hasTwo && h("p", { class: "hint" }, "Here is one reply only, so there is nothing to choose. Please go on."),
      hasTwo && asksWhy && h("div", { class: "pair-why" }, h("label", { for: "why" }, "Why? In a few words, if you like."), this.why),
      this.noticePlace,
    );
    this.listen();
    this.refresh();
  }

  begin(describedBy: string): boolean {
    const open = this.nextOpen();
    if (open === undefined) {
      say(this.said, this.options.whenDone());
      return false;
    }
    if (isByTouch()) {
      return false; // a ring around the first choice would look like an answer
    }
    focusOn(open, true);
    open.setAttribute("aria-describedby", describedBy);
    open.addEventListener("focusout", () => open.removeAttribute("aria-describedby"), { once: true });
    return true;
  }

  refresh(): void {
    const { better, why } = this.options.pair();
    for (const group of this.groups) {
      for (const radio of group.querySelectorAll("input")) {
        radio.checked = better[group.name] === radio.value;
      }
    }
    if (this.why.value !== why) {
      this.why.value = why;
    }
    this.element.querySelectorAll(".pair-reply").forEach((reply, place) => {
      const chosen = this.options.questions.length === 1 ? better[this.options.questions[0]!.name] : undefined;
      reply.toggleAttribute("data-chosen", chosen === ["first", "second"][place]);
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
    const left = this.groups.filter((group) => this.isOpen(group)).length;
    say(this.said, left === 0 ? this.options.whenDone() : left === 1 ? "1 question left." : `${left} questions left.`);
  }

  showAll(): void {
    // Nothing is hidden: both replies and all questions stand there.
  }

  destroy(): void {
    this.listening.abort();
  }

  // --- Answering ---

  private listen(): void {
    const { signal } = this.listening;
    const changed = (event: Event): void => {
      const group = event.target instanceof Element ? event.target.closest("fieldset") : null;
      if (group !== null && event.target instanceof HTMLInputElement) {
        this.choose(group, event.target.value);
      }
    };
    this.element.addEventListener("change", changed, { signal });
    this.why.addEventListener("input", () => (this.options.pair().why = this.why.value), { signal });
    // Noted, and so sent, when it is done; whoever leaves before sends it as well.
    this.why.addEventListener("change", () => this.options.onMove(0, choiceOf("why")), { signal });
    document.addEventListener("keydown", (event) => this.keyPressed(event), { signal });
  }

  private choose(group: HTMLFieldSetElement, value: string): void {
    this.options.pair().better[group.name] = value;
    this.notes.forEach((_, place) => this.note(place, "", false));
    this.refresh();
    this.options.onMove(0, choiceOf(value, group.name));
    this.sayWhatIsLeft();
  }

  private keyPressed(event: KeyboardEvent): void {
    const isIn = (selector: string): boolean => event.target instanceof Element && event.target.closest(selector) !== null;
    if (!isPlain(event) || event.defaultPrevented || document.querySelector("dialog[open]") !== null) {
      return;
    }
    const side = isIn(TYPES_DIGITS) ? undefined : this.sides.find((one) => one.digit === digitOf(event));
    const group = document.activeElement?.closest<HTMLFieldSetElement>(".pair-question") ?? this.nextOpen() ?? this.groups[0];
    if (side !== undefined && group !== undefined) {
      event.preventDefault();
      this.choose(group, side.value);
      focusOn(this.nextOpen() ?? group, false);
    } else if (event.key === "Enter" && !event.repeat && !isIn(HAS_ENTER)) {
      event.preventDefault();
      this.goOn();
    }
  }

  private goOn(): void {
    const open = this.nextOpen();
    if (open === undefined) {
      this.options.onDone();
    } else {
      focusOn(open, false);
      this.sayWhatIsLeft();
    }
  }

  private nextOpen(): HTMLFieldSetElement | undefined {
    return this.groups.find((group) => this.isOpen(group));
  }

  private isOpen(group: HTMLFieldSetElement): boolean {
    return this.options.pair().better[group.name] === undefined;
  }

  private makeGroup({ name, label, question }: Question): HTMLFieldSetElement {
    const isAlone = this.options.questions.length === 1;
    const legend = h("legend", { class: isAlone ? "visually-hidden" : "scale-legend" }, isAlone || label === "" ? "" : `${label}: `);
    legend.append(quoted("span", "scale-question", question));
    const choices = this.sides.map(({ value, words, digit }) =>
      h(
        "label",
        { class: "side" },
        h("input", { type: "radio", name: `pair ${name}`, value, "aria-keyshortcuts": String(digit) }),
        h("span", { class: "side-face" }, words, " ", h("kbd", { "aria-hidden": "true" }, String(digit))),
      ),
    );
    return h("fieldset", { class: "pair-question", name }, legend, h("div", { class: "sides" }, ...choices));
  }
}

/** In the order in which they stand: the first reply, what lies between, the second. */
function sidesOf({ mayTie, mayRejectBoth }: ComparedRepliesOptions): Side[] {
  return [
    { value: "first", words: "A is better", digit: 1 },
    ...(mayTie ? [{ value: "tie", words: "As good", digit: 0 }] : []),
    ...(mayRejectBoth ? [{ value: "both_bad", words: "Both bad", digit: 9 }] : []),
    { value: "second", words: "B is better", digit: 2 },
  ];
}

function makeReply(text: string, place: number, note: HTMLElement): HTMLElement {
  const id = `reply-${place}`;
  const letter = h("h3", { class: "rated-letter", id }, h("span", { class: "visually-hidden" }, "Reply "), letterOf(place));
  const words = quoted("div", "rated-text", text);
  words.id = `${id}-text`;
  return h("article", { class: "pair-reply", "data-reply": place, "aria-labelledby": `${id} ${words.id}` }, letter, words, note);
}

function focusOn(group: HTMLFieldSetElement, preventScroll: boolean): void {
  const radio = group.querySelector<HTMLInputElement>("input:checked") ?? group.querySelector("input");
  radio?.focus({ preventScroll });
}
