// Before a worker accepts: everything to decide by, and nothing that can be written or sent.
import { conversation } from "./conversation";
import type { PageData } from "./data";
import { h, prose, quoted } from "./dom";
import { introduction } from "./introduction";
import { areaButton, cardContent } from "./pieces";

export function showPreview(root: HTMLElement, data: PageData): void {
  const heading = h("h1", { class: "step-heading" }, "Preview");
  const hint = "This is what a task looks like. It can be tried after accepting.";
  root.replaceChildren(
    h(
      "header",
      { class: "header" },
      heading,
      h("p", { class: "header-facts" }, "Accept the HIT to begin. Nothing is kept here."),
    ),
    h(
      "main",
      {},
      introduction(data),
      h("section", { class: "panel" }, h("h2", {}, "Instructions"), prose(data.instructions)),
      h("section", { class: "panel" }, h("h2", {}, "An example"), h("p", { class: "hint" }, hint), example(data)),
    ),
  );
}

function example({ warm_up, question, areas }: PageData): HTMLElement {
  const cards = warm_up.replies.map(({ text }, place) => h("div", { class: "card" }, ...cardContent(text, place)));
  const zones = areas.map(({ label }, index) => {
    const button = areaButton(label, index + 1);
    button.disabled = true;
    return h("div", { class: "zone area" }, button);
  });
  const tray = h("div", { class: "board-tray" }, h("div", { class: "zone-cards" }, ...cards));
  return h(
    "div",
    { class: "task task-disabled" },
    h("div", { class: "task-reading" }, conversation(warm_up.turns), quoted("p", "question", question)),
    h("div", { class: "board" }, tray, h("div", { class: "areas" }, ...zones)),
    h("div", {}, h("button", { class: "button", type: "button", disabled: true }, "Validate")),
  );
}
