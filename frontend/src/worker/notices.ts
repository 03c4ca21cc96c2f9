// What ends the work: said on a page of its own, in the server's words.
import { button, h } from "./dom";
import type { Refusal } from "./requests";

const HEADINGS: Record<string, string> = {
  "token-invalid": "This page is no longer valid",
  "not-eligible": "This HIT is not for you",
  "limit-reached": "You have reached the limit",
  "study-full": "This study is complete",
  "already-submitted": "This is submitted already",
  "taken-over": "Someone else holds this HIT now",
  "time-over": "The time is over",
};
/** Where opening the page again leads on: to a fresh token, to the completion code, to going on all the same. */
const WORTH_RELOADING = ["token-invalid", "already-submitted", "taken-over", "time-over"];

export function isFinal(refusal: Refusal): boolean {
  return refusal.code in HEADINGS;
}

export function showNotice(root: HTMLElement, { code, message }: Refusal): void {
  const heading = h("h1", { class: "step-heading", tabindex: -1 }, HEADINGS[code] ?? "This can't go on");
  const reload =
    WORTH_RELOADING.includes(code) &&
    h(
      "div",
      {},
      button("Open this HIT again", "button", () => window.location.reload()),
    );
  root.replaceChildren(
    h("header", { class: "header" }, heading),
    h("main", {}, h("section", { class: "panel" }, h("p", {}, message), reload)),
  );
  heading.focus();
}
