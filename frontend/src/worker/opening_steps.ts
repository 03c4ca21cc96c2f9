// The instructions, with a warm-up that answers each reply in words and counts for nothing.
import { Board } from "./board";
import { conversation } from "./conversation";
import type { PageData, Placements } from "./data";
import { count, h, modestButton, prose, quoted, say } from "./dom";
import { keyHint } from "./pieces";
import type { Step } from "./shell";

const nothing = (): string => "";

export function instructionsStep(data: PageData, placements: Placements, goOn: () => void): Step {
  const { turns, replies } = data.warm_up;
  const result = h("p", { class: "message", role: "status" });
  const button = modestButton("Validate", "button button-quiet", () => validate());
  let isExplained = false;
  // On Validate itself, reached by the tab key, Enter validates again.
  const howToGoOn = (): string =>
    board.unsortedCount === 0 && document.activeElement !== button ? "Next or Enter" : "Next";
  const board = new Board({
    areas: data.areas,
    texts: replies.map((reply) => reply.text),
    placements: () => placements,
    onMove: () => {
      isExplained = false;
      say(result, "");
    },
    // Enter looks at the replies first, and goes on when there is nothing new to look at.
    onDone: () => (isExplained ? goOn() : validate()),
    whenDone: () => `All are placed: press ${isExplained ? howToGoOn() : "Validate or Enter"}.`,
  });

  const validate = (): void => {
    let fitting = 0;
    isExplained = true;
    replies.forEach((reply, place) => {
      const area = placements[place];
      const isFitting = area !== undefined && reply.areas.includes(area);
      fitting += Number(isFitting);
      board.note(place, area === undefined ? "Not placed yet." : isFitting ? reply.praise : reply.hint, isFitting);
    });
    say(
      result,
      fitting === replies.length
        ? `All of them fit. You are ready: go on with ${howToGoOn()}.`
        : `${fitting} of ${count(replies.length, "reply fits", "replies fit")} so far. ` +
            `Move any reply and validate again, as often as you like, or go on with ${howToGoOn()}.`,
    );
    if (board.unsortedCount === 0) {
      board.sayWhatIsLeft();
    }
  };

  const content = h(
    "div",
    { class: "step-parts" },
    h(
      "section",
      { class: "panel panel-halves" },
      prose(data.instructions),
      h(
        "div",
        { class: "prose" },
        data.facts.bonus_rule !== "" && h("p", { class: "note note-gold" }, data.facts.bonus_rule),
        h(
          "p",
          { class: "hint" },
          "Everything is saved as you go. You can go back at any time, and open these instructions again from every page.",
        ),
      ),
    ),
    h(
      "section",
      { class: "panel" },
      h("h2", {}, "Warm-up"),
      h("p", {}, "Try it here. It does not count, and Validate explains each reply."),
      keyHint(data.areas),
      h(
        "div",
        { class: "task" },
        h("div", { class: "task-reading" }, conversation(turns), quoted("p", "question", data.question)),
        board.element,
        h("div", { class: "validate" }, button, result),
      ),
    ),
  );
  return { heading: "Instructions", content, hasInstructions: true, missing: nothing, leave: () => board.destroy() };
}
