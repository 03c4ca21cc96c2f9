// Our server has the answers; now the marketplace gets them, by a form of its own as it asks for. This can be repeated.
import type { SubmitOut } from "../generated/page";
import { button, h, say } from "./dom";

const SECONDS_TO_SEE_THE_CODE = 1;
// The marketplace's own page comes next, so the words about points must be read before. A reload shows them again.
const SECONDS_TO_READ_THE_POINTS = 4;

export function showSubmitted(root: HTMLElement, submission: SubmitOut, isFirstTime: boolean): void {
  const heading = h("h1", { class: "step-heading", tabindex: -1 }, "Your answers are safe");
  const status = h("p", { role: "status" });
  const words = isFirstTime
    ? "They are saved with us, and go to the marketplace now."
    : "They are saved with us. If the marketplace has not taken them yet, hand them over again: that can't do harm.";
  let timer = 0;
  root.replaceChildren(
    h("header", { class: "header" }, heading),
    h(
      "main",
      {},
      h(
        "section",
        { class: "panel" },
        status,
        submission.points !== "" && h("p", {}, h("strong", {}, submission.points)),
        h("p", {}, "Your completion code:"),
        h("p", { class: "code" }, submission.code),
        h("p", { class: "hint" }, "It proves that you are done. Keep it until the marketplace says that the HIT is submitted."),
        h(
          "div",
          {},
          button("Submit to the marketplace again", "button", () => {
            window.clearTimeout(timer);
            handOver(submission);
          }),
        ),
      ),
    ),
  );
  document.title = "Your answers are safe";
  window.setTimeout(() => say(status, words)); // screen readers announce what is added to a region, not what it began with
  if (isFirstTime) {
    heading.focus();
    const seconds = submission.points === "" ? SECONDS_TO_SEE_THE_CODE : SECONDS_TO_READ_THE_POINTS;
    timer = window.setTimeout(() => handOver(submission), seconds * 1000);
  }
}

function handOver({ action, fields }: SubmitOut): void {
  const inputs = Object.entries(fields).map(([name, value]) => h("input", { type: "hidden", name, value }));
  const form = h("form", { method: "post", action, hidden: true }, ...inputs);
  document.body.append(form);
  // form.submit() won't do: a field of that name would hide the method.
  HTMLFormElement.prototype.submit.call(form);
  form.remove();
}
