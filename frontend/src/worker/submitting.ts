// Send the worker back to the crowd: by a form that the page posts, by going to another address, or with a code.
// This can be repeated.
import type { CrowdWords, SubmitOut } from "../generated/page";
import { button, h, say } from "./dom";

const SECONDS_TO_SEE_THE_CODE = 1;
// The crowd's own page comes next: what is said of the points must be read before. A reload shows it again.
const SECONDS_TO_READ_THE_POINTS = 4;

export function showSubmitted(root: HTMLElement, crowd: CrowdWords, submission: SubmitOut, isFirstTime: boolean): void {
  const heading = h("h1", { class: "step-heading", tabindex: -1 }, "Your answers are safe");
  const status = h("p", { role: "status" });
  const goesByItself = submission.way !== "code";
  // Where there is more to do, the worker says which way to go.
  const waits = isFirstTime && goesByItself && submission.more_url === "";
  let timer = 0;
  const act = (): void => {
    window.clearTimeout(timer);
    if (waits) {
      say(status, crowd.handing_over);
      handOverButton.textContent = handOverWords;
    }
    handOver(submission, () => say(status, "The code is copied."));
  };
  const goesBack = `Go back to ${crowd.marketplace}`;
  const handOverWords = submission.way === "redirect" ? goesBack : crowd.hand_over_button;
  const now = submission.way === "redirect" ? goesBack : `Submit to ${crowd.marketplace} now`;
  const handOverButton = button(waits ? now : handOverWords, "button", act);
  const more =
    submission.more_url !== "" &&
    h(
      "p",
      {},
      `There is another ${crowd.hit} of this study for you, if you like: `,
      h("a", { href: submission.more_url }, "look at it"),
    );
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
        ...codeOf(submission.code, crowd),
        h("div", {}, handOverButton),
        more,
      ),
    ),
  );
  document.title = "Your answers are safe";
  const waitWords =
    submission.way === "redirect"
      ? `They are saved. Please wait a moment: in a few seconds you are back at ${crowd.marketplace}.`
      : `Please wait a moment: your answers go to ${crowd.marketplace} in a few seconds.`;
  const words = waits ? waitWords : isFirstTime ? crowd.handing_over : crowd.hand_over_again;
  window.setTimeout(() => say(status, words)); // a screen reader hears what comes into a region, not what it began with
  if (isFirstTime) {
    heading.focus();
  }
  if (waits) {
    const seconds = submission.points === "" ? SECONDS_TO_SEE_THE_CODE : SECONDS_TO_READ_THE_POINTS;
    timer = window.setTimeout(act, seconds * 1000);
  }
}

/** Whoever goes back to a page of our own needs no code. */
function codeOf(code: string, crowd: CrowdWords): HTMLElement[] {
  if (code === "") {
    return [];
  }
  return [
    h("p", {}, "Your completion code:"),
    h("p", { class: "code" }, code),
    h("p", { class: "hint" }, crowd.code_hint),
  ];
}

function handOver({ way, action, fields, code }: SubmitOut, onCopied: () => void): void {
  if (way === "code") {
    // Where the browser does not allow it, the code stands on the page, to be selected by hand.
    navigator.clipboard?.writeText(code).then(onCopied, () => undefined);
  } else if (way === "redirect") {
    window.location.assign(action);
  } else {
    postForm(action, fields);
  }
}

function postForm(action: string, fields: Record<string, string>): void {
  const inputs = Object.entries(fields).map(([name, value]) => h("input", { type: "hidden", name, value }));
  const form = h("form", { method: "post", action, hidden: true }, ...inputs);
  document.body.append(form);
  // form.submit() won't do: a field of that name would hide the method.
  HTMLFormElement.prototype.submit.call(form);
  form.remove();
}
