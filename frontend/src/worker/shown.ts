// Show researchers the page as workers see it, in a frame of their pages, where it can only be looked at. It has no
// token, and no saver is made: nothing is sent, no time is taken, no consent is asked for.
import type { Dialog, PageData } from "../generated/page";
import { type DialogActions, dialogStep } from "./dialog_step";
import { h } from "./dom";
import { showPreview } from "./preview";
import type { Protocol } from "./protocols/contract";

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

function showDialog(root: HTMLElement, protocol: Protocol, data: PageData, dialog: Dialog): void {
  const step = dialogStep(protocol, data, dialog, 0, NO_ACTIONS);
  step.leave(); // from now on it listens to nobody
  for (const control of step.content.querySelectorAll<HTMLInputElement>("button, input, textarea, select")) {
    control.disabled = true;
  }
  root.replaceChildren(
    h("header", { class: "header" }, h("h1", { class: "step-heading" }, data.title)),
    h("main", { class: "work" }, step.content),
  );
}
