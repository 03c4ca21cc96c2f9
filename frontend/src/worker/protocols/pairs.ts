// Ask which of two replies is better: the page's words, what is missing, and what the warm-up praises.
import type { PageData, WarmUpReply } from "../../generated/page";
import { h, quoted } from "../dom";
import { letterOf } from "../letters";
import { areSame, type Choices, mergeChoices } from "./choices";
import type { Fields, MergedFields, Protocol, ProtocolWords, TaskOptions } from "./contract";
import { ComparedReplies, type PairFields, type Question } from "./pairs/compared_replies";

const WORDS: ProtocolWords = {
  work: "two replies each, of which you choose the better one",
  notYet: "Not compared yet.",
  allDone: "You have chosen",
  changeAny: "Choose again",
  allTheSame: "Please choose as well as you can all the same.",
  ready: "Chosen: see whether the point would be yours.",
  changed: "Changed since the check: what you have chosen when you submit counts.",
  tryAgain: "Not yet. You may choose again and validate again.",
  noMore: "Not like this. What you have chosen when you submit still counts.",
  changedElsewhere: "You have chosen in another tab, too: what was done in both is shown.",
  clashed: "Chosen differently in another tab",
};

interface PairsPage {
  questions: Question[];
  may_tie: boolean;
  may_reject_both: boolean;
  asks_why: boolean;
}

export function pairsProtocol(data: PageData): Protocol {
  const page = data as PageData & PairsPage;
  const { questions } = page;
  const unanswered = (fields: Fields): number => questions.filter(({ name }) => pairOf(fields).better[name] === undefined).length;
  return {
    words: WORDS,
    // Two models that say the same make one reply, and there is nothing to choose.
    missing: (fields, replies) => (replies < 2 || unanswered(fields) === 0 ? 0 : replies),
    missingWords: (missing) => (missing === 0 ? "" : questions.length > 1 ? "Not every question has an answer yet." : "Please choose one first."),
    unfinishedWords: () => "not compared",
    isSame: (one, other) => areSame(pairOf(one).better, pairOf(other).better) && pairOf(one).why === pairOf(other).why,
    merge,
    makeTask: (options: TaskOptions) =>
      new ComparedReplies({
        ...options,
        questions,
        pair: () => pairOf(options.fields()),
        mayTie: page.may_tie,
        mayRejectBoth: page.may_reject_both,
        asksWhy: page.asks_why,
      }),
    empty: () => ({ better: {}, why: "" }),
    fits: (reply, fields, place) => {
      const said = pairOf(fields).better[questions[0]!.name];
      return said === undefined ? null : (reply as WarmUpReply & { fitting: string[] }).fitting.includes(seenFrom(place, said));
    },
    howTo: () => howTo(page),
    picture: (texts) => h("div", { class: "pair" }, ...texts.slice(0, 2).map((text, place) => pictured(text, place))),
  };
}

function pairOf(fields: Fields): PairFields {
  return fields as PairFields;
}

function seenFrom(place: number, said: string): string {
  return said !== "first" && said !== "second" ? "tie" : (said === "first") === (place === 0) ? "better" : "worse";
}

/** Where both tabs wrote a reason, the server's is the newest, as with choices. */
function merge(known: Fields[], mine: Fields, theirs: Fields): MergedFields {
  const all = (fields: Fields): Choices => ({ ...pairOf(fields).better, ...(pairOf(fields).why === "" ? {} : { " why": pairOf(fields).why }) });
  const { choices, isTheirNews, clashes } = mergeChoices(known.map(all), all(mine), all(theirs));
  const { " why": why = "", ...better } = choices;
  return { fields: { better, why }, isTheirNews, clashes: clashes.length > 0 ? [0] : [] };
}

function howTo({ may_tie, may_reject_both }: PairsPage): HTMLElement {
  const keys = h("span", { class: "hint-keys" }, "By keys: ", h("kbd", {}, "1"), " chooses reply A, ", h("kbd", {}, "2"), " reply B");
  if (may_tie) {
    keys.append(", ", h("kbd", {}, "0"), " neither");
  }
  if (may_reject_both) {
    keys.append(", ", h("kbd", {}, "9"), " says that both are bad");
  }
  keys.append(", and ", h("kbd", {}, "Enter"), " goes on; in this warm-up it validates first.");
  return h("p", { class: "hint" }, "Read both replies, then press a button below them. ", keys);
}

function pictured(text: string, place: number): HTMLElement {
  return h("article", { class: "pair-reply" }, h("h3", { class: "rated-letter" }, letterOf(place)), quoted("div", "rated-text", text));
}
