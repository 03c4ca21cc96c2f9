// Show the preview before a worker accepts: everything that helps to decide, and nothing that can be typed or sent.
import { conversation } from "./conversation";
import type { PageData } from "../generated/page";
import { h, prose, quoted } from "./dom";
import { introduction } from "./introduction";
import type { Protocol } from "./protocols/contract";

export function showPreview(root: HTMLElement, protocol: Protocol, data: PageData): void {
  const heading = h("h1", { class: "step-heading" }, "Preview");
  const hint = "This is what a task looks like. It can be tried after accepting.";
  root.replaceChildren(
    h(
      "header",
      { class: "header" },
      heading,
      h("p", { class: "header-facts" }, `${data.crowd.accept_first} Nothing is kept here.`),
    ),
    h(
      "main",
      {},
      introduction(protocol, data),
      h("section", { class: "panel" }, h("h2", {}, "Instructions"), prose(data.instructions)),
      h("section", { class: "panel" }, h("h2", {}, "An example"), h("p", { class: "hint" }, hint), example(protocol, data)),
    ),
  );
}

function example(protocol: Protocol, { warm_up, question }: PageData): HTMLElement {
  return h(
    "div",
    { class: "task task-disabled" },
    h("div", { class: "task-reading" }, conversation(warm_up.turns), quoted("p", "question", question)),
    protocol.picture(warm_up.replies.map(({ text }) => text)),
    h("div", {}, h("button", { class: "button", type: "button", disabled: true }, "Validate")),
  );
}
