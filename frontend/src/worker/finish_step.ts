// Show the last step: what is not finished, optional feedback to the researchers, and Submit.
import type { Dialog, PageData, SubmitOut } from "../generated/page";
import { button, h, say } from "./dom";
import type { OnWaiting } from "./line";
import type { Protocol } from "./protocols/contract";
import { Refusal } from "./requests";
import type { Step } from "./shell";

const LONGEST_FEEDBACK = 5000;

export interface FinishActions {
  onFeedback(): void;
  goToDialog(position: number): void;
  submit(onWaiting: OnWaiting): Promise<SubmitOut>;
  onSubmitted(submission: SubmitOut): void;
}

export function finishStep(protocol: Protocol, data: PageData, actions: FinishActions): Step {
  const result = h("p", { class: "message", role: "status" });
  const feedback = h("textarea", { id: "feedback", rows: 4, maxlength: LONGEST_FEEDBACK, dir: "auto" });
  feedback.value = data.feedback;
  feedback.addEventListener("input", () => {
    data.feedback = feedback.value;
    actions.onFeedback();
  });

  let isSubmitting = false;
  const submit = async (): Promise<void> => {
    if (isSubmitting) {
      return;
    }
    if (unfinished(protocol, data.dialogs).length > 0) {
      say(result, "Some conversations are not finished yet: see above.");
      return;
    }
    isSubmitting = true;
    say(result, "Submitting…");
    try {
      actions.onSubmitted(await actions.submit((why) => say(result, why)));
    } catch (error) {
      say(
        result,
        error instanceof Refusal ? error.message : "Our server did not answer. Nothing is lost: please press Submit again.",
      );
    }
    isSubmitting = false;
  };

  const content = h(
    "div",
    { class: "step-parts" },
    h(
      "section",
      { class: "panel" },
      h("h2", {}, "Thank you"),
      h("p", {}, "You may still go back and change what you like. Submit hands your work over, and then it stays as it is."),
      unfinishedList(protocol, data.dialogs, actions.goToDialog),
      h("label", { for: "feedback" }, "Anything that you would like to tell us? (optional)"),
      feedback,
    ),
  );
  const action = h(
    "div",
    { class: "submit" },
    result,
    button("Submit", "button", () => void submit()),
  );
  return { heading: "Finish", content, action, missing: () => "", leave: () => undefined };
}

function unfinished(protocol: Protocol, dialogs: Dialog[]): [position: number, missing: number][] {
  return dialogs
    .map((dialog, position): [number, number] => [position, protocol.missing(dialog.answer, dialog.cards.length)])
    .filter(([, missing]) => missing > 0);
}

function unfinishedList(protocol: Protocol, dialogs: Dialog[], goToDialog: (position: number) => void): HTMLElement | null {
  const found = unfinished(protocol, dialogs);
  if (found.length === 0) {
    return null;
  }
  const rows = found.map(([position, missing]) =>
    h(
      "li",
      {},
      button(`Conversation ${position + 1}`, "button-link", () => goToDialog(position)),
      `: ${protocol.unfinishedWords(missing)}`,
    ),
  );
  return h("div", { class: "note note-warning" }, h("p", {}, "Before you submit, please finish:"), h("ul", {}, ...rows));
}
