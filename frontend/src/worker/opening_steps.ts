// Show the instructions and a warm-up, which explains each reply and does not count.
import { conversation } from "./conversation";
import type { PageData } from "../generated/page";
import { count, h, modestButton, prose, quoted, say } from "./dom";
import { orEnter } from "./keys";
import type { Fields, Protocol } from "./protocols/contract";
import type { Step } from "./shell";

const nothing = (): string => "";

export function instructionsStep(protocol: Protocol, data: PageData, fields: Fields, goOn: () => void): Step {
  const { turns, replies } = data.warm_up;
  const result = h("p", { class: "message", role: "status" });
  const button = modestButton("Validate", "button button-quiet", () => validate());
  let isExplained = false;
  const isComplete = (): boolean => protocol.missing(fields, replies.length) === 0;
  // If the button Validate has the focus, by the tab key, Enter validates again.
  const howToGoOn = (): string =>
    isComplete() && document.activeElement !== button ? orEnter("Next") : "Next";
  const task = protocol.makeTask({
    texts: replies.map((reply) => reply.text),
    fields: () => fields,
    onMove: () => {
      isExplained = false;
      say(result, "");
    },
    // Enter explains the replies first, and goes on if there is nothing new to explain.
    onDone: () => (isExplained ? goOn() : validate()),
    whenDone: () => `${protocol.words.allDone}: press ${isExplained ? howToGoOn() : orEnter("Validate")}.`,
  });

  const validate = (): void => {
    let fitting = 0;
    isExplained = true;
    replies.forEach((reply, place) => {
      const isFitting = protocol.fits(reply, fields, place);
      fitting += Number(isFitting ?? false);
      task.note(place, isFitting === null ? protocol.words.notYet : isFitting ? reply.praise : reply.hint, isFitting ?? false);
    });
    say(
      result,
      fitting === replies.length
        ? `All of them fit. You are ready: go on with ${howToGoOn()}.`
        : `${fitting} of ${count(replies.length, "reply fits", "replies fit")} so far. ` +
            `${protocol.words.changeAny} and validate again, as often as you like, or go on with ${howToGoOn()}.`,
    );
    if (isComplete()) {
      task.sayWhatIsLeft();
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
      protocol.howTo(),
      h(
        "div",
        { class: "task" },
        h("div", { class: "task-reading" }, conversation(turns), quoted("p", "question", data.question)),
        task.element,
        h("div", { class: "validate" }, button, result),
      ),
    ),
  );
  return { heading: "Instructions", content, hasInstructions: true, missing: nothing, leave: () => task.destroy() };
}
