// What a worker is told before the work, in the preview and on the first page: nothing is kept for the small print.
import type { Facts, PageData } from "./data";
import { count, h, prose } from "./dom";

export function introduction(data: PageData): HTMLElement {
  return h(
    "div",
    { class: "introduction" },
    h("section", { class: "panel" }, h("h2", {}, data.title), prose(data.welcome)),
    h("section", { class: "panel" }, h("h2", {}, "In short"), factList(data.facts)),
    h("section", { class: "panel" }, h("h2", {}, "Your consent"), prose(data.consent)),
    h("section", { class: "panel" }, h("h2", {}, "Questions and problems"), prose(data.contact)),
  );
}

function factList(facts: Facts): HTMLElement {
  const rows: [string, string][] = [
    ["Work", `${count(facts.dialogs, "short conversation")}, the replies of each sorted into areas`],
    ["Time", `about ${count(facts.expected_minutes, "minute")}; you have up to ${count(facts.time_limit_minutes, "minute")}`],
    ["Pay", facts.bonus === "" ? facts.reward : `${facts.reward}, and ${facts.bonus} more with the bonus`],
    ["Bonus", facts.bonus_rule || "none in this HIT"],
    ["Limit", `up to ${count(facts.max_hits, "HIT")} of this study for each worker`],
  ];
  return h("dl", { class: "facts" }, ...rows.flatMap(([term, words]) => [h("dt", {}, term), h("dd", {}, words)]));
}
