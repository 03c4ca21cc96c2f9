// What a worker is told before the work, in the preview and on the first page. Nothing is hidden in small print.
import type { Facts, PageData } from "../generated/page";
import { count, h, prose } from "./dom";
import type { Protocol } from "./protocols/contract";

export function introduction(protocol: Protocol, data: PageData): HTMLElement {
  return h(
    "div",
    { class: "introduction" },
    h("section", { class: "panel" }, h("h2", {}, data.title), prose(data.welcome)),
    h("section", { class: "panel" }, h("h2", {}, "In short"), factList(protocol, data.facts)),
    h("section", { class: "panel" }, h("h2", {}, "Your consent"), prose(data.consent), consentHint(data)),
    h("section", { class: "panel" }, h("h2", {}, "Questions and problems"), prose(data.contact)),
  );
}

function consentHint(data: PageData): HTMLElement | false {
  return data.mode !== "work" && h("p", { class: "hint" }, "You are asked whether you agree once you have accepted the HIT.");
}

export function factList(protocol: Protocol, facts: Facts, isShort = false): HTMLElement {
  const pay = `${facts.reward}, which is ${facts.hourly} an hour at this pace`;
  const rows: [string, string][] = [
    ["Who asks", facts.requester],
    ["Work", `${count(facts.dialogs, "short conversation")}, ${protocol.words.work}`],
    ["Time", `about ${count(facts.expected_minutes, "minute")}; you have up to ${count(facts.time_limit_minutes, "minute")}`],
    ["Pay", facts.bonus === "" ? pay : `${pay}; ${facts.bonus} more with the bonus`],
    ["Approval", facts.approval],
    ["Bonus", facts.bonus_rule || "none in this HIT"],
    ["Limit", `up to ${count(facts.max_hits, "HIT")} of this study for each worker`],
  ];
  const shown = isShort ? rows.slice(1, 4) : rows;
  return h("dl", { class: "facts" }, ...shown.flatMap(([term, words]) => [h("dt", {}, term), h("dd", {}, words)]));
}
