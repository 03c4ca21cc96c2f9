// Ask on scales: the page's words, what is missing, how two tabs are merged, and what the warm-up praises.
import type { PageData, WarmUpReply } from "../../generated/page";
import { count, h } from "../dom";
import { areSame, type Choices, mergeChoices } from "./choices";
import type { Fields, MergedFields, Protocol, ProtocolWords, TaskOptions } from "./contract";
import { RatedReplies } from "./likert/rated_replies";
import { type Asked, CANT_SAY, makeRatedReply, type Ratings } from "./likert/scale";

const WORDS: ProtocolWords = {
  work: "the replies of each rated",
  notYet: "Not rated yet.",
  allDone: "All are rated",
  changeAny: "Change any rating",
  allTheSame: "Please rate the replies as well as you can all the same.",
  ready: "All rated: see whether the point would be yours.",
  changed: "Changed since the check: the ratings that you submit count.",
  tryAgain: "Not yet. You may change ratings and validate again.",
  noMore: "Not like this. The ratings that you submit still count.",
  changedElsewhere: "Replies were rated in another tab, too: what was done in both is shown.",
  clashed: "Rated differently in another tab",
};

// Where on a scale an answer fits the warm-up's words, from 0 for the lowest point to 1 for the highest. The parts
// overlap: nobody is told that 4 of 5 is wrong where something in the middle fits.
const PARTS: Record<string, [number, number]> = { high: [0.66, 1], middle: [0.25, 0.75], low: [0, 0.34] };

interface LikertPage {
  criteria: Asked[];
  layout: "grid" | "one by one";
  may_skip: boolean;
}

export function likertProtocol(data: PageData): Protocol {
  const { criteria, layout, may_skip } = data as PageData & LikertPage;
  const isOneByOne = layout === "one by one";
  const complete = (fields: Fields, place: number): boolean =>
    criteria.every(({ name }) => ratingsOf(fields)[name]?.[place] !== undefined);
  return {
    words: WORDS,
    missing: (fields, replies) => [...Array(replies).keys()].filter((place) => !complete(fields, place)).length,
    missingWords: (missing) =>
      missing === 0 ? "" : `${count(missing, "reply is", "replies are")} not rated ${criteria.length > 1 ? "on everything " : ""}yet.`,
    unfinishedWords: (missing) => `${count(missing, "reply", "replies")} not rated`,
    isSame: (one, other) => areSame(flat(one), flat(other)),
    merge,
    makeTask: (options: TaskOptions) =>
      new RatedReplies({ ...options, ratings: () => ratingsOf(options.fields()), asked: criteria, isOneByOne, maySkip: may_skip }),
    empty: () => ({ ratings: {} }),
    fits: (reply, fields, place) => {
      const { fitting } = reply as WarmUpReply & { fitting: string[] };
      const first = criteria.find((one) => one.is_first) ?? criteria[0]!;
      return complete(fields, place) ? fitsAll(fitting, criteria, first, ratingsOf(fields), place) : null;
    },
    howTo: () => howTo(criteria, may_skip),
    picture: (texts) => picture(texts, criteria, may_skip),
  };
}

function ratingsOf(fields: Fields): Ratings {
  return (fields as { ratings: Ratings }).ratings;
}

/** Several words for the same criterion are alternatives; each criterion that is named must fit. */
function fitsAll(fitting: string[], criteria: Asked[], first: Asked, ratings: Ratings, place: number): boolean {
  const wanted = new Map<string, string[]>();
  for (const words of fitting) {
    const [part = "", name = first.name] = words.split(":").reverse();
    wanted.set(name, [...(wanted.get(name) ?? []), part]);
  }
  return [...wanted].every(([name, parts]) => {
    const asked = criteria.find((one) => one.name === name);
    const said = ratings[name]?.[place];
    if (asked === undefined || said === undefined || said === CANT_SAY) {
      return false;
    }
    const share = (Number(said) - asked.lowest) / (asked.highest - asked.lowest);
    return parts.some((part) => {
      const [from, to] = PARTS[part] ?? [0, 1];
      return share >= from && share <= to;
    });
  });
}

/** Ratings as one choice for each place and criterion. */
function flat(fields: Fields): Choices {
  const choices: Choices = {};
  for (const [name, said] of Object.entries(ratingsOf(fields))) {
    for (const [place, rating] of Object.entries(said)) {
      choices[`${place} ${name}`] = rating;
    }
  }
  return choices;
}

function unflat(choices: Choices): Ratings {
  const ratings: Ratings = {};
  for (const [key, rating] of Object.entries(choices)) {
    const [place = "", name = ""] = key.split(" ");
    (ratings[name] ??= {})[place] = rating;
  }
  return ratings;
}

function merge(known: Fields[], mine: Fields, theirs: Fields): MergedFields {
  const { choices, isTheirNews, clashes } = mergeChoices(known.map(flat), flat(mine), flat(theirs));
  const places = new Set(clashes.map((key) => Number(key.split(" ")[0])));
  return { fields: { ratings: unflat(choices) }, isTheirNews, clashes: [...places].sort((one, other) => one - other) };
}

function howTo(criteria: Asked[], maySkip: boolean): HTMLElement {
  const isSlider = criteria.some((one) => one.is_slider);
  const keys = h("span", { class: "hint-keys" }, "By keys: ", h("kbd", {}, "Enter"), " goes to the next question without an answer, ");
  if (isSlider) {
    keys.append("arrows move the slider");
  } else {
    keys.append("a digit answers it and goes on");
  }
  if (maySkip) {
    keys.append(", ", h("kbd", {}, "X"), " is “Can’t say”");
  }
  keys.append(". When everything is answered, ", h("kbd", {}, "Enter"), " goes on; in this warm-up it validates first.");
  const words = isSlider ? "Press on the line, or drag the knob; it appears with your answer. " : "Press a number for each question; press another to change it. ";
  return h("p", { class: "hint" }, words, keys);
}

function picture(texts: string[], criteria: Asked[], maySkip: boolean): HTMLElement {
  const replies = texts.map((text, place) => makeRatedReply(text, place, criteria, maySkip, false).element);
  replies.flatMap((reply) => [...reply.querySelectorAll("input")]).forEach((input) => (input.disabled = true));
  return h("div", { class: "rated-replies" }, ...replies);
}
