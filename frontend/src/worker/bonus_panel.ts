// Bonus Validate: whether the placement of a checkpoint wins its point, as the server says.
import type { Board } from "./board";
import type { Bonus, CheckAnswer, Dialog } from "./data";
import { button, count, h, say } from "./dom";
import type { OnWaiting } from "./line";
import { Refusal } from "./requests";

const WON = "The bonus point is yours.";

export interface BonusActions {
  check(onWaiting: OnWaiting): Promise<CheckAnswer>;
}

export class BonusPanel {
  readonly element: HTMLElement;
  private readonly button: HTMLButtonElement;
  private readonly result = h("p", { class: "message", role: "status" });
  private readonly attempts = h("span", { class: "hint" });
  private isChecking = false;

  constructor(
    private readonly dialog: Dialog,
    private bonus: Bonus,
    private readonly board: Board,
    private readonly actions: BonusActions,
  ) {
    this.button = button("Bonus Validate", "button button-gold", () => void this.validate());
    this.element = h("section", { class: "bonus", "aria-label": "Bonus" }, this.button, this.attempts, this.result);
    this.refresh();
  }

  refresh(): void {
    this.bonus = this.dialog.bonus ?? this.bonus;
    const { won, attempts_left: left } = this.bonus;
    this.button.setAttribute("aria-disabled", String(won || left === 0 || this.isChecking));
    say(this.attempts, won || left === null ? "" : left === 0 ? "No attempts left." : `${count(left, "attempt")} left.`);
    this.element.toggleAttribute("data-won", won);
    if (won) {
      say(this.result, WON);
    }
  }

  /** What was said about an earlier placement. */
  forget(): void {
    if (!this.bonus.won && !this.isChecking) {
      say(this.result, "");
    }
  }

  private async validate(): Promise<void> {
    const unplaced = this.board.unsortedCount;
    if (this.isChecking || this.bonus.won || this.bonus.attempts_left === 0) {
      return;
    }
    if (unplaced > 0) {
      say(this.result, `${missingPlaces(unplaced)} Then the bonus can be validated.`);
      return;
    }
    this.isChecking = true;
    say(this.result, "Looking…");
    try {
      const answer = await this.actions.check((why) => say(this.result, why));
      say(this.result, inWords(answer));
    } catch (error) {
      say(this.result, error instanceof Refusal ? error.message : "That did not work. Please try again.");
    }
    this.isChecking = false;
    this.refresh();
  }
}

function inWords({ won, bonus }: CheckAnswer): string {
  if (won) {
    return bonus.won ? WON : "That would win, but the study counts an earlier attempt.";
  }
  return bonus.attempts_left === 0
    ? "Not this time. Thank you for trying."
    : "Not yet. Read the replies once more; you may move them and validate again.";
}

export function missingPlaces(unplaced: number): string {
  return unplaced === 0 ? "" : `${count(unplaced, "reply still has", "replies still have")} no place.`;
}
