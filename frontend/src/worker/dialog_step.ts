// One conversation: read it, sort the replies, perhaps win a point.
import { Board } from "./board";
import { conversation } from "./conversation";
import { type Bonus, type CheckAnswer, type Dialog, type PageData, unplacedCount } from "./data";
import { button, count, h, quoted, say } from "./dom";
import { Refusal } from "./requests";
import type { Step } from "./shell";

const MOST_MOVES = 200;
const LONGEST_PROBLEM = 1000;
const WON = "The bonus point is yours.";

export interface DialogActions {
  announce(words: string): void;
  /** After a move, or after something was typed. */
  onChange(): void;
  /** Adds the running clock to the dialog's times. */
  lap(): void;
  check(onWaiting: () => void): Promise<CheckAnswer>;
}

export interface DialogStep extends Step {
  /** Shows the dialog's state as it is now: another tab has changed it. */
  refresh(): void;
}

export function dialogStep(data: PageData, dialog: Dialog, position: number, actions: DialogActions): DialogStep {
  const board = new Board({
    areas: data.areas,
    texts: dialog.cards,
    placements: () => dialog.answer.areas,
    announce: actions.announce,
    onMove: (place, area) => {
      actions.lap();
      // The first moves tell the most, and where a reply ended is in the areas.
      if (dialog.answer.moves.length < MOST_MOVES) {
        dialog.answer.moves.push([dialog.answer.active_ms, place, area]);
      }
      bonus?.forget();
      actions.onChange();
    },
  });
  const bonus = dialog.bonus === null ? null : new BonusPanel(dialog, dialog.bonus, board, actions);
  const problem = problemBox(dialog, actions.onChange);
  let isReminded = false;

  return {
    heading: `Conversation ${position + 1}/${data.dialogs.length}`,
    content: h(
      "div",
      { class: "task" },
      h("div", { class: "task-reading" }, conversation(dialog.turns), quoted("p", "question", data.question)),
      board.element,
      bonus?.element ?? null,
      problem.element,
    ),
    missing: () => missingPlaces(unplacedCount(dialog)),
    remind: () => {
      const isDue = dialog.bonus !== null && dialog.bonus.attempts === 0 && !isReminded;
      isReminded = true;
      return isDue ? "A bonus point waits here: press Bonus Validate to try for it, or Next again to go on without." : "";
    },
    leave: () => board.destroy(),
    refresh: () => {
      board.refresh();
      problem.refresh();
      bonus?.refresh();
    },
  };
}

function missingPlaces(unplaced: number): string {
  return unplaced === 0 ? "" : `${count(unplaced, "reply still has", "replies still have")} no place.`;
}

class BonusPanel {
  readonly element: HTMLElement;
  private readonly button: HTMLButtonElement;
  private readonly result = h("p", { class: "message", role: "status" });
  private readonly attempts = h("span", { class: "hint" });
  private isChecking = false;

  constructor(
    private readonly dialog: Dialog,
    private bonus: Bonus,
    private readonly board: Board,
    private readonly actions: DialogActions,
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
      const answer = await this.actions.check(() => say(this.result, "No connection: the answer comes when it is back."));
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

function problemBox(dialog: Dialog, onChange: () => void): { element: HTMLElement; refresh(): void } {
  const text = h("textarea", { id: "problem", rows: 3, maxlength: LONGEST_PROBLEM, dir: "auto" });
  text.addEventListener("input", () => {
    dialog.problem = text.value;
    onChange();
  });
  const element = h(
    "details",
    { class: "problem" },
    h("summary", {}, "Something is wrong with this conversation"),
    h("label", { for: "problem" }, "What is wrong? Please sort the replies as well as you can all the same."),
    text,
  );
  const refresh = (): void => {
    text.value = dialog.problem;
    element.open = element.open || dialog.problem !== "";
  };
  refresh();
  return { element, refresh };
}
