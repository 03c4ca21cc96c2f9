// Show one dialog: conversation, replies, bonus panel, reporting a problem; record the first 200 moves.
// A move goes this way: the protocol's task (onMove) -> here, where it is noted -> dialogChanged in work.ts, which adds the
// clock's times -> dialogChanged in saving.ts, which sends it soon.
import { BonusPanel } from "./bonus_panel";
import { conversation } from "./conversation";
import type { Dialog, PageData } from "../generated/page";
import type { CheckAnswer } from "./data";
import { count, h, quoted } from "./dom";
import { orEnter } from "./keys";
import type { OnWaiting } from "./line";
import type { Protocol } from "./protocols/contract";
import type { Step } from "./shell";

const MOST_MOVES = 200;
const LONGEST_PROBLEM = 1000;

export interface DialogActions {
  /** Goes to the next step, as the button Next does. */
  goOn(): void;
  /** Is called after a move, or after something was typed. */
  dialogChanged(): void;
  /** Adds the running clock to the dialog's times. */
  lap(): void;
  check(onWaiting: OnWaiting): Promise<CheckAnswer>;
}

export interface DialogStep extends Step {
  /** Shows the dialog's present state, after another tab has changed it. */
  refresh(): void;
  /** Shows all of its replies at once, for somebody who only looks. */
  showAll(): void;
}

export function dialogStep(
  protocol: Protocol,
  data: PageData,
  dialog: Dialog,
  position: number,
  actions: DialogActions,
): DialogStep {
  const task = protocol.makeTask({
    texts: dialog.cards,
    fields: () => dialog.answer,
    onMove: (place, choice) => {
      actions.lap();
      // The first moves tell the most, and the answer has the final state, so later moves are left out.
      if (dialog.answer.moves.length < MOST_MOVES) {
        dialog.answer.moves.push([dialog.answer.active_ms, place, choice]);
      }
      bonus?.refresh();
      actions.dialogChanged();
    },
    onDone: actions.goOn,
    whenDone: () => `${protocol.words.allDone}: press ${orEnter("Next")}${bonus?.canCheck ? "; Bonus Validate first, if you like" : ""}.`,
  });
  const bonus = dialog.bonus === null ? null : new BonusPanel(protocol, dialog, dialog.bonus, data.facts.what_counts, actions);
  const problem = problemBox(dialog, protocol.words.allTheSame, actions.dialogChanged);
  const place = `Conversation ${position + 1} of ${data.dialogs.length}, with ${count(dialog.turns.length, "turn")}, stands above the replies.`;
  // An attention check tells what to answer in place of the question: crowds call a check fair if it is the question.
  const question = dialog.told === undefined ? quoted("p", "question", data.question) : quoted("p", "question told", dialog.told);
  question.id = "question";

  return {
    heading: `Conversation ${position + 1} of ${data.dialogs.length}`,
    content: h(
      "div",
      { class: "task" },
      h("div", { class: "task-reading" }, conversation(dialog.turns), question, h("p", { id: "place", hidden: true }, place)),
      task.element,
      bonus?.element ?? null,
      problem.element,
    ),
    noticePlace: task.noticePlace,
    missing: () => protocol.missingWords(protocol.missing(dialog.answer, dialog.cards.length)),
    begin: () => task.begin("place question"),
    leave: () => task.destroy(),
    showAll: () => task.showAll(),
    refresh: () => {
      task.refresh();
      problem.refresh();
      bonus?.refresh();
    },
  };
}

function problemBox(dialog: Dialog, allTheSame: string, onChange: () => void): { element: HTMLElement; refresh(): void } {
  const text = h("textarea", { id: "problem", rows: 3, maxlength: LONGEST_PROBLEM, dir: "auto" });
  text.addEventListener("input", () => {
    dialog.problem = text.value;
    onChange();
  });
  const element = h(
    "details",
    { class: "problem" },
    h("summary", {}, "Something is wrong with this conversation"),
    h("label", { for: "problem" }, `What is wrong? ${allTheSame}`),
    text,
  );
  // The field may open below the visible part, or below Back and Next.
  element.addEventListener("toggle", () => element.open && element.scrollIntoView({ block: "nearest" }));
  const refresh = (): void => {
    text.value = dialog.problem;
    element.open = element.open || dialog.problem !== "";
  };
  refresh();
  return { element, refresh };
}
