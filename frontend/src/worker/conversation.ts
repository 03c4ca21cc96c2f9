// Show a dialog as the worker reads it: the first speaker on the left, the second on the right.

import { h, quoted } from "./dom";

/** Speech bubbles: speaker 1 begins, on the left. Under a heading that screen readers find from the replies below. */
export function conversation(turns: string[]): HTMLElement {
  const bubbles = turns.map((text, position) => {
    const speaker = 1 + (position % 2);
    return h(
      "div",
      { class: `turn turn-${speaker}`, role: "listitem" },
      h("span", { class: "turn-speaker" }, `Speaker ${speaker}`),
      quoted("p", "turn-text", text),
    );
  });
  return h(
    "section",
    { "aria-label": "Conversation" },
    h("h2", { class: "visually-hidden" }, "Conversation"),
    h("div", { class: "conversation", role: "list" }, ...bubbles),
  );
}
