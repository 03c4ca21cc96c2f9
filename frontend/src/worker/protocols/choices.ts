// Compare and merge answers that are one choice for each key (a reply's place, or a place and a criterion).
import { LONGEST_CHOICE } from "../../generated/page";
import type { MergedFields } from "./contract";

declare const isMade: unique symbol;

/** What is noted of a move (TaskOptions.onMove). Only `choiceOf` makes it. */
export type Choice = string & { readonly [isMade]: true };

/**
 * Returns the words as a note that the server takes, whatever they are: choiceOf("7", "Empathy!") is "7_empathy_". Long
 * ones are cut, so what matters most comes first.
 */
export function choiceOf(...words: string[]): Choice {
  const text = words.join("_").toLowerCase().replace(/[^a-z0-9_]+/g, "_");
  return text.slice(0, LONGEST_CHOICE) as Choice;
}

export type Choices = Record<string, string>;

export type MergedChoices = { choices: Choices } & Pick<MergedFields, "isTheirNews"> & { clashes: string[] };

export function areSame(one: Choices, other: Choices): boolean {
  return [...keysOf(one, other)].every((key) => one[key] === other[key]);
}

/** Keeps what each tab has chosen. If both chose for the same key, the server's choice is the newest. See Protocol.merge. */
export function mergeChoices(known: Choices[], mine: Choices, theirs: Choices): MergedChoices {
  const choices: Choices = {};
  const clashes: string[] = [];
  let isTheirNews = false;
  for (const key of keysOf(mine, theirs)) {
    const [ours, newest] = [mine[key], theirs[key]];
    const isChangedHere = known.some((one) => one[key] !== ours);
    const isChangedThere = known.every((one) => one[key] !== newest);
    isTheirNews ||= isChangedThere && ours !== newest;
    if (isChangedHere && isChangedThere && ours !== newest) {
      clashes.push(key);
    }
    const choice = isChangedHere && !isChangedThere ? ours : newest;
    if (choice !== undefined) {
      choices[key] = choice;
    }
  }
  return { choices, isTheirNews, clashes };
}

function keysOf(one: Choices, other: Choices): Set<string> {
  return new Set([...Object.keys(one), ...Object.keys(other)]);
}
