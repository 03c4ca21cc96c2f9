// Show Bonus Validate: ask the server whether the answer at a checkpoint would win its point, and say so.
// The final answer decides; the page knows only what was checked, and says so.
import type { BonusOut, Dialog } from "../generated/page";
import type { CheckAnswer } from "./data";
import { count, h, modestButton, say } from "./dom";
import type { OnWaiting } from "./line";
import type { Protocol } from "./protocols/contract";
import { Refusal } from "./requests";

// Each text fits into the two lines that are reserved for it.
const WON = "The bonus point is yours if it stays like this.";
const LOST = "This point is gone: the first check counts.";

export interface BonusActions {
  check(onWaiting: OnWaiting): Promise<CheckAnswer>;
  goOn(): void;
}

export class BonusPanel {
  readonly element: HTMLElement;
  private readonly button: HTMLButtonElement;
  private readonly result = h("p", { class: "message", role: "status" });
  private readonly attempts = h("strong");
  private isChecking = false;
  private words = "";

  constructor(
    private readonly protocol: Protocol,
    private readonly dialog: Dialog,
    private bonus: BonusOut,
    whatCounts: string,
    private readonly actions: BonusActions,
  ) {
    this.button = modestButton("Bonus Validate", "button button-gold", () => void this.validate());
    // After a check the focus stays on the button, and Enter goes on from there as from everywhere else.
    this.button.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !this.isChecking && !this.canCheck && this.missing === 0) {
        event.preventDefault();
        actions.goOn();
      }
    });
    this.element = h(
      "section",
      { class: "bonus", "aria-label": "Bonus" },
      h("p", { class: "hint" }, "This conversation carries a bonus point. ", whatCounts, " ", this.attempts),
      h("div", { class: "bonus-check" }, this.button, this.result),
    );
    this.refresh();
  }

  /** Call this after every move, every check, and every change by another tab. */
  refresh(): void {
    this.bonus = this.dialog.bonus ?? this.bonus;
    const { attempts_left: left } = this.bonus;
    // Its space stays reserved while it is hidden, so that nothing jumps when the last reply is placed.
    this.element.toggleAttribute("data-waiting", this.missing > 0);
    this.element.toggleAttribute("data-won", hasWon(this.protocol, this.dialog));
    this.button.setAttribute("aria-disabled", String(!this.canCheck));
    say(this.attempts, left === null || this.bonus.is_lost ? "" : left === 0 ? "No checks left." : `${count(left, "check")} left.`);
    if (!this.isChecking) {
      this.tell(this.state());
    }
  }

  private get isUnchanged(): boolean {
    return this.bonus.checked !== null && this.protocol.isSame(this.bonus.checked, this.dialog.answer);
  }

  private get missing(): number {
    return this.protocol.missing(this.dialog.answer, this.dialog.cards.length);
  }

  get canCheck(): boolean {
    return !this.isChecking && !this.isUnchanged && !this.bonus.is_lost && this.bonus.attempts_left !== 0;
  }

  private state(): string {
    if (this.bonus.is_lost) {
      return LOST;
    }
    if (this.bonus.checked === null) {
      return this.missing === 0 ? this.protocol.words.ready : "";
    }
    if (!this.isUnchanged) {
      return this.protocol.words.changed;
    }
    return this.bonus.passed ? WON : this.bonus.attempts_left === 0 ? this.protocol.words.noMore : this.protocol.words.tryAgain;
  }

  /** Shows words, but does not announce the same words again after every move. */
  private tell(words: string): void {
    if (words !== this.words) {
      this.words = words;
      say(this.result, words);
    }
  }

  private async validate(): Promise<void> {
    if (!this.canCheck || this.missing > 0) {
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

/** Returns whether the last check passed and nothing has moved since. */
export function hasWon(protocol: Protocol, { bonus, answer }: Dialog): boolean {
  const checked = bonus !== null && bonus.passed && !bonus.is_lost ? bonus.checked : null;
  return checked !== null && protocol.isSame(checked, answer);
}
