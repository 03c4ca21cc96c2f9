// Tell a worker, in the preview and on the first page, about work, time, pay, limit, consent and contact.
import type { CrowdWords, Facts, PageData } from "../generated/page";
import { count, h, prose } from "./dom";
import type { Protocol } from "./protocols/contract";

export function introduction(protocol: Protocol, data: PageData): HTMLElement {
  return h(
    "div",
    { class: "introduction" },
    h("section", { class: "panel" }, h("h2", {}, data.title), prose(data.welcome)),
    h("section", { class: "panel" }, h("h2", {}, "In short"), factList(protocol, data)),
    h("section", { class: "panel" }, h("h2", {}, "Your consent"), prose(data.consent), consentHint(data)),
    h("section", { class: "panel" }, h("h2", {}, "Questions and problems"), prose(data.contact)),
  );
}

function consentHint(data: PageData): HTMLElement | false {
  return data.mode !== "work" && h("p", { class: "hint" }, data.crowd.asked_later);
}

export function factList(protocol: Protocol, { facts, crowd }: PageData, isShort = false): HTMLElement {
  const pay = facts.reward === "" ? facts.unpaid : `${facts.reward}, which is ${facts.hourly} an hour at this pace`;
  const rows: [string, string][] = [
    ["Who asks", facts.requester],
    ["Work", `${count(facts.dialogs, "short conversation")}, ${protocol.words.work}`],
    ["Time", `about ${count(facts.expected_minutes, "minute")}; you have up to ${count(facts.time_limit_minutes, "minute")}`],
    ["Pay", facts.bonus === "" ? pay : `${pay}; ${facts.bonus} more with the bonus`],
    ...(facts.reward === "" ? [] : paidRows(facts, crowd)),
    ["Limit", `up to ${count(facts.max_hits, crowd.hit, crowd.hits)} of this study for each ${crowd.worker}`],
  ];
  const shown = isShort ? rows.slice(1, 4) : rows;
  return h("dl", { class: "facts" }, ...shown.flatMap(([term, words]) => [h("dt", {}, term), h("dd", {}, words)]));
}

function paidRows(facts: Facts, crowd: CrowdWords): [string, string][] {
  return [
    ["Approval", facts.approval],
    ["Bonus", facts.bonus_rule || `none in this ${crowd.hit}`],
  ];
}
