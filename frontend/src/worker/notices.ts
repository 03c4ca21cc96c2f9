// Show what ends the work on a page of its own, in the server's words.
import type { CrowdWords } from "../generated/page";
import { button, h } from "./dom";
import type { Refusal } from "./requests";

export function isFinal(refusal: Refusal): boolean {
  return refusal.heading !== "";
}

export function showNotice(root: HTMLElement, crowd: CrowdWords, { heading, message, canOpenAgain, ownPage }: Refusal): void {
  const title = h("h1", { class: "step-heading", tabindex: -1 }, heading);
  const reload =
    canOpenAgain &&
    ownPage === "" &&
    h(
      "div",
      {},
      button(`Open this ${crowd.hit} again`, "button", () => window.location.reload()),
    );
  const onward = ownPage !== "" && h("div", {}, h("a", { class: "button", href: ownPage }, "Go to your page of this study"));
  root.replaceChildren(
    h("header", { class: "header" }, title),
    h("main", {}, h("section", { class: "panel" }, h("p", {}, message), reload, onward)),
  );
  document.title = heading;
  title.focus();
}
