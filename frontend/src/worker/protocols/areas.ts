// Ask by areas: the page's words, what is missing, and what the warm-up praises.
import type { PageData, WarmUpReply } from "../../generated/page";
import { count, h } from "../dom";
import { Board } from "./areas/board";
import { type Area, keyHint, makeArea, makeCard, type Placements } from "./areas/pieces";
import { areSame, mergeChoices } from "./choices";
import type { Fields, MergedFields, Protocol, ProtocolWords, TaskOptions } from "./contract";

const WORDS: ProtocolWords = {
  work: "the replies of each sorted into areas",
  notYet: "Not placed yet.",
  allDone: "All are placed",
  changeAny: "Move any reply",
  allTheSame: "Please sort the replies as well as you can all the same.",
  ready: "All sorted: see whether the point would be yours.",
  changed: "Moved since the check: where replies are when you submit counts.",
  tryAgain: "Not yet. You may move replies and validate again.",
  noMore: "Not like this. Where replies are when you submit still counts.",
  changedElsewhere: "Replies were moved in another tab, too: what was done in both is shown.",
  clashed: "Moved in another tab, too",
};

interface AreasFields {
  areas: Placements;
}

export function areasProtocol(data: PageData): Protocol {
  const { areas } = data as PageData & { areas: Area[] };
  return {
    words: WORDS,
    missing: (fields, replies) => replies - Object.keys(placementsOf(fields)).length,
    missingWords: (missing) => (missing === 0 ? "" : `${count(missing, "reply still has", "replies still have")} no place.`),
    unfinishedWords: (missing) => `${count(missing, "reply", "replies")} without a place`,
    isSame: (one, other) => areSame(placementsOf(one), placementsOf(other)),
    merge,
    makeTask: ({ fields, ...options }: TaskOptions) => new Board({ ...options, areas, placements: () => placementsOf(fields()) }),
    empty: () => ({ areas: {} }),
    fits: (reply, fields, place) => {
      const area = placementsOf(fields)[place];
      return area === undefined ? null : (reply as WarmUpReply & { areas: string[] }).areas.includes(area);
    },
    howTo: () => keyHint(areas),
    picture: (texts) => picture(texts, areas),
  };
}

function placementsOf(fields: Fields): Placements {
  return (fields as AreasFields).areas;
}

function merge(known: Fields[], mine: Fields, theirs: Fields): MergedFields {
  const { choices, isTheirNews, clashes } = mergeChoices(known.map(placementsOf), placementsOf(mine), placementsOf(theirs));
  return { fields: { areas: choices }, isTheirNews, clashes: clashes.map(Number) };
}

function picture(texts: string[], areas: Area[]): HTMLElement {
  const cards = texts.map((text, place) => makeCard(text, place, areas));
  cards.flatMap((card) => [...card.querySelectorAll("input")]).forEach((radio) => (radio.disabled = true));
  const zones = areas.map((area, index) => makeArea(area, index).element);
  const tray = h("div", { class: "board-tray" }, h("div", { class: "zone-cards" }, ...cards));
  return h("div", { class: "board" }, tray, h("div", { class: "areas" }, ...zones));
}
