// Show the frame around every step: header, points, whether all is saved, Back and Next, notices, screen readers.
import { button, h, say } from "./dom";
import type { SaveState } from "./saving";

export interface Step {
  heading: string;
  content: HTMLElement;
  /** Returns what is missing before one can go on, in words, or "". */
  missing(): string;
  /** Puts the focus where the work begins, without scrolling. Returns false to leave the focus to the heading. */
  begin?(): boolean;
  leave(): void;
  /** Whether the step itself shows the instructions. */
  hasInstructions?: boolean;
  /** A button in place of Next. */
  action?: HTMLElement;
  /** Where in the step a notice is visible and hides nothing; by default, above the step. */
  noticePlace?: HTMLElement;
}

export interface ShellOptions {
  title: string;
  clock: HTMLElement;
  hasPoints: boolean;
  onInstructions(): void;
  onBack(): void;
  onNext(): void;
}

export class Shell {
  private readonly heading = h("h1", { class: "step-heading", tabindex: -1 });
  private readonly points = h("span", { class: "points" });
  private readonly saved = h("span", { class: "saved" });
  private readonly progress = h("div", { class: "progress", "aria-hidden": "true" });
  private readonly noticeWords = h("p", { role: "status" });
  private readonly notice = h("div", { class: "note notice" }, this.noticeWords);
  private readonly content = h("div", { class: "step" });
  private readonly message = h("p", { class: "message", role: "status" });
  private readonly instructions: HTMLButtonElement;
  private readonly back: HTMLButtonElement;
  private readonly next: HTMLButtonElement;
  private readonly action = h("div", { class: "step-action" });
  private readonly voice = h("div", { class: "visually-hidden", role: "status", "data-voice": true });

  constructor(
    root: HTMLElement,
    private readonly options: ShellOptions,
  ) {
    this.back = button("Back", "button button-quiet", () => options.onBack());
    this.next = button("Next", "button", () => options.onNext());
    this.instructions = button("Instructions", "button button-quiet button-small", () => options.onInstructions());
    this.notice.append(button("OK", "button button-quiet button-small", () => this.notify("")));
    const facts = h("div", { class: "header-facts" }, options.clock, options.hasPoints && this.points, this.saved);
    root.replaceChildren(
      h("header", { class: "header" }, this.heading, facts, this.instructions, this.progress),
      h("main", { class: "work" }, this.content, h("div", { class: "nav" }, this.back, this.message, this.action)),
      this.voice,
    );
  }

  /** Announces words to screen readers only. */
  readonly announce = (words: string): void => say(this.voice, words);

  /** Shows words next to the button that was pressed. */
  tell(words: string): void {
    say(this.message, words);
  }

  /** Shows a notice until the next step, or until the worker closes it. */
  notify(words: string): void {
    say(this.noticeWords, words);
    this.notice.toggleAttribute("data-shown", words !== "");
  }

  show(step: Step, index: number, lastIndex: number, isFirst: boolean): void {
    say(this.heading, step.heading);
    document.title = `${step.heading} – ${this.options.title}`;
    this.progress.style.setProperty("--done", String(index / lastIndex));
    this.content.replaceChildren(step.content);
    this.action.replaceChildren(step.action ?? this.next);
    this.back.hidden = index === 0;
    this.instructions.hidden = step.hasInstructions === true;
    if (step.noticePlace === undefined) {
      this.content.before(this.notice);
    } else {
      step.noticePlace.prepend(this.notice);
    }
    this.tell("");
    this.notify("");
    this.showReadiness(step);
    if (!isFirst) {
      document.body.scrollIntoView(); // also scrolls the page around a frame that is higher than the window
    }
    // When the page opens, take the focus only if work goes on; otherwise the page around the frame keeps it.
    if (step.begin?.() !== true && (!isFirst || step.begin !== undefined)) {
      this.heading.focus({ preventScroll: true });
    }
  }

  /** Makes Next look quiet if something is missing. It is never disabled, because pressing it says what is missing. */
  showReadiness(step: Step): void {
    this.next.classList.toggle("button-quiet", step.missing() !== "");
  }

  /** Shows the points; nothing before the first check, because a worker who never checks has lost none. */
  showPoints(points: number | null, of: number): void {
    say(this.points, points === null ? "" : `Bonus points checked and right: ${points} of ${of}`);
  }

  showSaveState(state: SaveState, detail: string): void {
    const words = {
      saved: "Saved",
      saving: "Saving…",
      offline: `Offline: ${detail}, sent when the connection is back`,
      failed: `Not saved: ${detail}`,
    }[state];
    const wasTrouble = isTrouble(this.saved.dataset["state"]);
    this.saved.dataset["state"] = state;
    if (this.saved.textContent === words) {
      return;
    }
    this.saved.textContent = words;
    // Don't announce "Saved" after each move, only when something is wrong, and when it is right again.
    if (isTrouble(state) || (wasTrouble && state === "saved")) {
      this.announce(words);
    }
  }
}

function isTrouble(state: string | undefined): boolean {
  return state === "offline" || state === "failed";
}
