// Bonus Validate: whether the placement of a checkpoint would win its point, as the server says. What wins is where the
// replies are in the end; the page knows only what was checked, and says so.
import { type Bonus, type CheckAnswer, type Dialog, type Placements, unplacedCount } from "./data";
import { count, h, modestButton, say } from "./dom";
import type { OnWaiting } from "./line";
import { Refusal } from "./requests";

// Each fits the two lines that are kept for it.
const READY = "All sorted: see whether the point would be yours.";
const WON = "The bonus point is yours if it stays like this.";
const MOVED = "Moved since the check: where replies are when you submit counts.";
const LOST = "This point is gone: the first check counts.";
const NOT_YET = "Not yet. You may move replies and validate again.";
const NO_MORE = "Not like this. Where replies are when you submit still counts.";

export interface BonusActions {
  check(onWaiting: OnWaiting): Promise<CheckAnswer>;
}

export class BonusPanel {
  readonly element: HTMLElement;
  private readonly button: HTMLButtonElement;
  private readonly result = h("p", { class: "message", role: "status" });
  private readonly attempts = h("strong");
  private isChecking = false;
  private words = "";

  constructor(
    private readonly dialog: Dialog,
    private bonus: Bonus,
    whatCounts: string,
    private readonly actions: BonusActions,
  ) {
    this.button = modestButton("Bonus Validate", "button button-gold", () => void this.validate());
    this.element = h(
      "section",
      { class: "bonus", "aria-label": "Bonus" },
      h("p", { class: "hint" }, "This conversation carries a bonus point. ", whatCounts, " ", this.attempts),
      h("div", { class: "bonus-check" }, this.button, this.result),
    );
    this.refresh();
  }

  /** After every move, check and change by another tab. */
  refresh(): void {
    this.bonus = this.dialog.bonus ?? this.bonus;
    const { attempts_left: left } = this.bonus;
    // Its place is kept while it is hidden, so that nothing jumps when the last reply is placed.
    this.element.toggleAttribute("data-waiting", unplacedCount(this.dialog) > 0);
    this.element.toggleAttribute("data-won", hasWon(this.dialog));
    this.button.setAttribute("aria-disabled", String(!this.canCheck));
    say(this.attempts, left === null || this.bonus.is_lost ? "" : left === 0 ? "No checks left." : `${count(left, "check")} left.`);
    if (!this.isChecking) {
      this.tell(this.state());
    }
  }

  private get isUnchanged(): boolean {
    return isSame(this.bonus.checked?.areas ?? null, this.dialog.answer.areas);
  }

  get canCheck(): boolean {
    return !this.isChecking && !this.isUnchanged && !this.bonus.is_lost && this.bonus.attempts_left !== 0;
  }

  private state(): string {
    if (this.bonus.is_lost) {
      return LOST;
    }
    if (this.bonus.checked === null) {
      return unplacedCount(this.dialog) === 0 ? READY : "";
    }
    if (!this.isUnchanged) {
      return MOVED;
    }
    return this.bonus.passed ? WON : this.bonus.attempts_left === 0 ? NO_MORE : NOT_YET;
  }

  /** The same words are not said again with every move. */
  private tell(words: string): void {
    if (words !== this.words) {
      this.words = words;
      say(this.result, words);
    }
  }

  private async validate(): Promise<void> {
    if (!this.canCheck || unplacedCount(this.dialog) > 0) {
      return;
    }
    this.isChecking = true;
    this.refresh();
    this.tell("Looking…");
    let problem = "";
    try {
      await this.actions.check((why) => this.tell(why));
    } catch (error) {
      problem = error instanceof Refusal ? error.message : "That did not work. Please try again.";
    }
    this.isChecking = false;
    this.refresh();
    if (problem !== "") {
      this.tell(problem);
    }
  }
}

/** Whether the last check passed, and nothing has moved since. */
export function hasWon({ bonus, answer }: Dialog): boolean {
  return bonus !== null && bonus.passed && !bonus.is_lost && isSame(bonus.checked?.areas ?? null, answer.areas);
}

function isSame(checked: Placements | null, areas: Placements): boolean {
  return checked !== null && Object.keys(checked).every((place) => checked[place] === areas[place]);
}

export function missingPlaces(unplaced: number): string {
  return unplaced === 0 ? "" : `${count(unplaced, "reply still has", "replies still have")} no place.`;
}
