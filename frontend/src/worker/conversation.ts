import { h, quoted } from "./dom";

/** Speech bubbles: speaker 1 begins, on the left. */
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
  return h("div", { class: "conversation", role: "list", "aria-label": "Conversation" }, ...bubbles);
}
