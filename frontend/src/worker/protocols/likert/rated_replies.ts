// Rate replies on scales: by mouse, touch and keys, all at once or one reply at a time.
import { button, count, h, say } from "../../dom";
import { digitOf, HAS_ENTER, isByTouch, isPlain } from "../../keys";
import { letterOf } from "../../letters";
import { choiceOf } from "../choices";
import type { Task, TaskOptions } from "../contract";
import { type Asked, CANT_SAY, makeRatedReply, type RatedReply, type Ratings, type ScaleControls } from "./scale";


export interface RatedRepliesOptions extends TaskOptions {
  /** Returns what the task reads and changes. It is a function, because a conflict replaces the ratings. */
  ratings(): Ratings;
  /** The criteria, in this worker's order. */
  asked: Asked[];
  isOneByOne: boolean;
  maySkip: boolean;
}

export class RatedReplies implements Task {
  readonly element: HTMLElement;
  readonly noticePlace: HTMLElement;
  private readonly replies: RatedReply[];
  private readonly scales: ScaleControls[];
  private readonly said = h("p", { class: "rated-said", role: "status" });
  private readonly which = h("p", { class: "rated-which" });
  private readonly earlier: HTMLButtonElement;
  private readonly later: HTMLButtonElement;
  private readonly listening = new AbortController();
  /** The reply that is shown where there is one at a time. */
  private shown = 0;
  private isAllShown = false;

  constructor(private readonly options: RatedRepliesOptions) {
    const { texts, asked, maySkip, isOneByOne } = options;
    this.replies = texts.map((text, place) => makeRatedReply(text, place, asked, maySkip, isOneByOne));
    this.scales = this.replies.flatMap((reply) => reply.scales);
    this.earlier = button("", "button button-quiet button-small", () => this.open(this.shown - 1));
    this.later = button("", "button button-quiet button-small", () => this.open(this.shown + 1));
    const list = h("div", { class: "rated-replies" }, ...this.replies.map((reply) => reply.element));
    this.noticePlace = h("div", { class: "rated-foot" }, this.said);
    this.element = h(
      "div",
      { class: isOneByOne ? "likert likert-one" : "likert" },
      !isOneByOne && asked.length > 1 && questions(asked),
      isOneByOne && h("div", { class: "rated-nav" }, this.earlier, this.which, this.later),
      list,
      this.noticePlace,
    );
    this.listen();
    this.refresh();
  }

  begin(describedBy: string): boolean {
    const first = this.nextOpen(-1);
    if (first === undefined) {
      say(this.said, this.options.whenDone());
      return false;
    }
    this.open(first.place, false);
    if (isByTouch()) {
      return false; // a ring around the first point would look like an answer
    }
    first.focus(true);
    const field = document.activeElement;
    field?.setAttribute("aria-describedby", describedBy);
    field?.addEventListener("blur", () => field.removeAttribute("aria-describedby"), { once: true });
    return true;
  }

  refresh(): void {
    for (const scale of this.scales) {
      scale.show(this.ratingOf(scale));
    }
    this.showReplies();
  }

  note(place: number, words: string, isPraise: boolean): void {
    const note = this.replies[place]?.note;
    if (note !== undefined) {
      note.hidden = words === "";
      note.classList.toggle("card-note-good", isPraise);
      say(note, words);
    }
  }

  sayWhatIsLeft(): void {
    const left = this.replies.filter((reply) => !this.isComplete(reply)).length;
    say(this.said, left === 0 ? this.options.whenDone() : `${count(left, "reply", "replies")} left.`);
  }

  showAll(): void {
    this.isAllShown = true;
    this.showReplies();
  }

  destroy(): void {
    this.listening.abort();
  }

  // --- Answering ---

  private listen(): void {
    const { signal } = this.listening;
    const answered = (event: Event): void => {
      const scale = this.scaleOf(event);
      if (scale !== null && event.target instanceof HTMLInputElement) {
        this.answer(scale, event.target.value);
      }
    };
    // A slider sends `input` at each step, and `change` once it is let go.
    this.element.addEventListener("change", answered, { signal });
    // A press on a slider's middle, where it stands before it is answered, changes nothing, so browsers send no event.
    this.element.addEventListener("click", (event) => isUnset(event.target) && answered(event), { signal });
    this.element.addEventListener("input", (event) => showMoving(event.target), { signal });
    this.element.addEventListener("keydown", (event) => this.keyPressed(event), { signal });
    document.addEventListener("keydown", (event) => this.keyPressedAnywhere(event), { signal });
  }

  private answer(scale: ScaleControls, rating: string): void {
    const { name } = scale.asked;
    (this.options.ratings()[name] ??= {})[scale.place] = rating;
    scale.show(rating);
    this.note(scale.place, "", false);
    this.showReplies();
    this.options.onMove(scale.place, choiceOf(rating, name));
    this.sayWhatIsLeft();
  }

  private keyPressed(event: KeyboardEvent): void {
    const scale = this.scaleOf(event);
    const rating = scale !== null && isPlain(event) ? ratingOfKey(event, scale.asked, this.options.maySkip) : null;
    if (scale !== null && rating !== null) {
      event.preventDefault();
      this.answer(scale, rating);
      this.goOn(this.scales.indexOf(scale));
    } else if (scale?.asked.is_slider === true && event.key === " " && isUnset(event.target)) {
      event.preventDefault();
      this.answer(scale, (event.target as HTMLInputElement).value);
    }
  }

  private keyPressedAnywhere(event: KeyboardEvent): void {
    const isIn = (selector: string): boolean => event.target instanceof Element && event.target.closest(selector) !== null;
    const isOurs = event.key === "Enter" && isPlain(event) && !event.repeat && !event.defaultPrevented && !isIn(HAS_ENTER);
    if (isOurs && document.querySelector("dialog[open]") === null) {
      event.preventDefault();
      if (this.goOn(-1)) {
        this.sayWhatIsLeft();
      } else {
        this.options.onDone();
      }
    }
  }

  /** Goes to the next question without an answer, and after the last one begins again. Returns false if there is none. */
  private goOn(after: number): boolean {
    const next = this.nextOpen(after);
    if (next !== undefined) {
      this.open(next.place, false);
      next.focus(false);
    }
    return next !== undefined;
  }

  private nextOpen(after: number): ScaleControls | undefined {
    const ordered = [...this.scales.slice(after + 1), ...this.scales.slice(0, after + 1)];
    return ordered.find((scale) => this.ratingOf(scale) === undefined);
  }

  // --- Showing ---

  /** Shows a reply where there is one at a time. */
  private open(place: number, takesFocus = true): void {
    this.shown = Math.min(Math.max(place, 0), this.replies.length - 1);
    this.showReplies();
    if (takesFocus && this.options.isOneByOne) {
      this.replies[this.shown]?.element.focus({ preventScroll: true });
    }
  }

  private showReplies(): void {
    const { isOneByOne, texts } = this.options;
    this.replies.forEach((reply, place) => {
      reply.element.hidden = isOneByOne && !this.isAllShown && place !== this.shown;
      reply.element.toggleAttribute("data-done", this.isComplete(reply));
    });
    if (isOneByOne) {
      this.which.textContent = `Reply ${letterOf(this.shown)} (${this.shown + 1} of ${texts.length})`;
      this.earlier.textContent = `← Reply ${letterOf(Math.max(this.shown - 1, 0))}`;
      this.later.textContent = `Reply ${letterOf(Math.min(this.shown + 1, texts.length - 1))} →`;
      this.earlier.disabled = this.shown === 0;
      this.later.disabled = this.shown === texts.length - 1;
    }
  }

  private isComplete(reply: RatedReply): boolean {
    return reply.scales.every((scale) => this.ratingOf(scale) !== undefined);
  }

  private ratingOf(scale: ScaleControls): string | undefined {
    return this.options.ratings()[scale.asked.name]?.[scale.place];
  }

  private scaleOf(event: Event): ScaleControls | null {
    const field = event.target instanceof Element ? event.target.closest("fieldset") : null;
    return this.scales.find((scale) => scale.element === field) ?? null;
  }
}

/** All questions once, above the replies: beside each scale there is room for its name only. */
function questions(asked: Asked[]): HTMLElement {
  const rows = asked.flatMap(({ label, question }) => [h("dt", {}, label), h("dd", { dir: "auto" }, question)]);
  return h("dl", { class: "rated-questions" }, ...rows);
}

/** Returns the rating that a key stands for: digits from 1 on, 0 for ten, a hyphen beside it for eleven, X for “Can’t say”. */
function ratingOfKey(event: KeyboardEvent, asked: Asked, maySkip: boolean): string | null {
  if (maySkip && event.key.toLowerCase() === "x") {
    return CANT_SAY;
  }
  if (asked.is_slider) {
    return null;
  }
  const digit = event.key === "-" ? 11 : digitOf(event);
  const point = digit === 0 ? 10 : digit;
  return point !== null && point >= asked.lowest && point <= asked.highest ? String(point) : null;
}

function isUnset(target: EventTarget | null): boolean {
  return target instanceof HTMLInputElement && target.type === "range" && target.hasAttribute("data-unset");
}

/** While a slider is dragged, its number follows; the answer is saved when it is let go. */
function showMoving(target: EventTarget | null): void {
  if (target instanceof HTMLInputElement && target.type === "range") {
    target.removeAttribute("data-unset");
    target.setAttribute("aria-valuetext", target.value);
    const told = target.parentElement?.querySelector("output");
    if (told) {
      told.textContent = target.value;
    }
  }
}
