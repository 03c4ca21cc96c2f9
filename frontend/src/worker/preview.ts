// Before a worker accepts: everything to decide by, and nothing that can be written or sent.
import { conversation } from "./conversation";
import type { PageData } from "./data";
import { h, prose, quoted } from "./dom";
import { introduction } from "./introduction";
import { makeArea, makeCard } from "./pieces";

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
  const cards = warm_up.replies.map(({ text }, place) => makeCard(text, place, areas));
  cards.flatMap((card) => [...card.querySelectorAll("input")]).forEach((radio) => (radio.disabled = true));
  const zones = areas.map((area, index) => makeArea(area, index).element);
  const tray = h("div", { class: "board-tray" }, h("div", { class: "zone-cards" }, ...cards));
  return h(
    "div",
    { class: "task task-disabled" },
    h("div", { class: "task-reading" }, conversation(warm_up.turns), quoted("p", "question", question)),
    h("div", { class: "board" }, tray, h("div", { class: "areas" }, ...zones)),
    h("div", {}, h("button", { class: "button", type: "button", disabled: true }, "Validate")),
  );
}
