// Compare and merge answers that are one choice for each key (a reply's place, or a place and a criterion).
import type { MergedFields } from "./contract";

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
