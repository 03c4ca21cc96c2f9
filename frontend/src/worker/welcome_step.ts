// Show the first step: what the work is about, and the worker's consent.
// It is short for those who have worked on it before.
import type { PageData } from "../generated/page";
import { button, h, say } from "./dom";
import { factList, introduction } from "./introduction";
import type { Protocol } from "./protocols/contract";
import type { Step } from "./shell";

export function welcomeStep(protocol: Protocol, data: PageData, onAgree: () => void): Step {
  const answer = h("p", { class: "message", role: "status" });
  const action = h(
    "div",
    { class: "submit" },
    answer,
    button("I do not agree", "button button-quiet", () => say(answer, `That is fine, and no answers were kept. ${data.crowd.declined}`)),
    button("I agree and begin", "button", onAgree),
  );
  const content = data.is_returning ? shortIntroduction(protocol, data) : introduction(protocol, data);
  const heading = data.is_returning ? "Welcome back" : "Welcome";
  // A worker who has agreed and comes back to this page goes on with Next.
  return { heading, content, missing: () => "", leave: () => undefined, ...(data.has_agreed ? {} : { action }) };
}

function shortIntroduction(protocol: Protocol, data: PageData): HTMLElement {
  const hit = data.crowd.hit;
  return h(
    "div",
    { class: "step-parts" },
    h(
      "section",
      { class: "panel" },
      h("h2", {}, data.title),
      h("p", {}, `You know this from an earlier ${hit}. The task and the consent are the same; you agree for each ${hit}.`),
      factList(protocol, data, true),
    ),
    h("details", { class: "in-full" }, h("summary", {}, "The introduction and the consent in full"), introduction(protocol, data)),
  );
}
