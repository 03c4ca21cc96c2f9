// Show researchers the page as workers see it, in a frame of their pages, where it can only be looked at. It has no
// token, and no saver is made: nothing is sent, no time is taken, no consent is asked for.
import type { Dialog, PageData } from "../generated/page";
import { type DialogActions, dialogStep } from "./dialog_step";
import { h } from "./dom";
import { finishStep } from "./finish_step";
import { instructionsStep } from "./opening_steps";
import { showPreview } from "./preview";
import type { Protocol } from "./protocols/contract";
import type { Step } from "./shell";
import { welcomeStep } from "./welcome_step";

const NO_ACTIONS: DialogActions = {
  goOn: () => undefined,
  dialogChanged: () => undefined,
  lap: () => undefined,
  check: () => Promise.reject(new Error("A page that is only shown checks nothing.")),
};

export function showWithoutWork(root: HTMLElement, protocol: Protocol, data: PageData): void {
  root.classList.add("page-shown");
  const [dialog] = data.dialogs;
  if (dialog === undefined) {
    showPreview(root, protocol, data);
  } else {
    showDialog(root, protocol, data, dialog);
  }
}

/** Shows one step of the work, as the bundle of a study documents it. */
export function showStep(root: HTMLElement, protocol: Protocol, data: PageData): void {
  root.classList.add("page-shown");
  const step = makeStep(protocol, data);
  step.leave();
  const action = step.action ?? null;
  root.replaceChildren(
    h("header", { class: "header" }, h("h1", { class: "step-heading" }, `${data.title}: ${step.heading}`)),
    h("main", { class: data.step === "dialog" ? "work" : "" }, step.content, action),
  );
  disableControls(root);
}

function makeStep(protocol: Protocol, data: PageData): Step {
  const [dialog] = data.dialogs;
  if (data.step === "dialog" && dialog !== undefined) {
    return shownDialog(protocol, data, dialog);
  }
  if (data.step === "instructions") {
    return instructionsStep(protocol, data, protocol.empty(), () => undefined);
  }
  if (data.step === "finish") {
    const nowhere = (): never => {
      throw new Error("A page that is only shown submits nothing.");
    };
    return finishStep(protocol, data, {
      onFeedback: () => undefined,
      goToDialog: nowhere,
      submit: nowhere,
      onSubmitted: nowhere,
    });
  }
  return welcomeStep(protocol, data, () => undefined);
}

/** Shows all of it: somebody who only looks can't go from reply to reply. */
function shownDialog(protocol: Protocol, data: PageData, dialog: Dialog): Step {
  const step = dialogStep(protocol, data, dialog, 0, NO_ACTIONS);
  step.showAll();
  return step;
}

function disableControls(element: HTMLElement): void {
  for (const control of element.querySelectorAll<HTMLInputElement>("button, input, textarea, select")) {
    control.disabled = true;
  }
}

function showDialog(root: HTMLElement, protocol: Protocol, data: PageData, dialog: Dialog): void {
  const step = shownDialog(protocol, data, dialog);
  step.leave(); // from now on it listens to nobody
  disableControls(step.content);
  root.replaceChildren(
    h("header", { class: "header" }, h("h1", { class: "step-heading" }, data.title)),
    h("main", { class: "work" }, step.content),
  );
}
