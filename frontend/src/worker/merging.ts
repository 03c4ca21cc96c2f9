// The same dialog in two tabs: what each has moved holds. Where both moved the same card, the server's is the newest.
import type { Answer, DialogSave, Placements } from "./data";

const MOST_MOVES = 200;
const LONGEST_PROBLEM = 1000;

export interface Merged {
  answer: Answer;
  problem: string;
  /** Something of ours that the server does not have yet. */
  isNews: boolean;
  /** Something of theirs that this page did not show: not what it sent itself and never heard of. */
  isTheirNews: boolean;
  /** Places of cards that both have moved, to different areas. */
  clashes: number[];
}

/**
 * `known` is what the server has had from us: first the last that it acknowledged, then what was sent since, which may
 * have arrived without our hearing of it.
 */
export function merge(known: [DialogSave, ...DialogSave[]], mine: DialogSave, theirs: DialogSave): Merged {
  const areas: Placements = {};
  const clashes: number[] = [];
  let isTheirNews = false;
  for (const place of new Set([...Object.keys(mine.areas), ...Object.keys(theirs.areas)])) {
    const [ours, newest] = [mine.areas[place], theirs.areas[place]];
    const isMovedHere = known.some((one) => one.areas[place] !== ours);
    const isMovedThere = known.every((one) => one.areas[place] !== newest);
    isTheirNews ||= isMovedThere && ours !== newest;
    if (isMovedHere && isMovedThere && ours !== newest) {
      clashes.push(Number(place));
    }
    const area = isMovedHere && !isMovedThere ? ours : newest;
    if (area !== undefined) {
      areas[place] = area;
    }
  }
  const base = known[0];
  const answer = {
    revision: theirs.revision,
    areas,
    active_ms: theirs.active_ms + Math.max(0, mine.active_ms - base.active_ms),
    hidden_ms: theirs.hidden_ms + Math.max(0, mine.hidden_ms - base.hidden_ms),
    moves: [...theirs.moves, ...mine.moves.slice(base.moves.length)].slice(0, MOST_MOVES),
  };
  const isTypedHere = known.some((one) => one.problem !== mine.problem);
  const isTypedThere = known.every((one) => one.problem !== theirs.problem);
  // Nothing that was typed is thrown away.
  const typed = isTypedThere && theirs.problem !== mine.problem ? `${theirs.problem}\n${mine.problem}` : mine.problem;
  const problem = isTypedHere ? typed.slice(0, LONGEST_PROBLEM) : theirs.problem;
  isTheirNews ||= isTypedThere && theirs.problem !== mine.problem;
  return { answer, problem, isNews: !isSame({ areas, problem }, theirs), isTheirNews, clashes };
}

type Content = Pick<DialogSave, "areas" | "problem">;

function isSame(one: Content, other: Content): boolean {
  const places = new Set([...Object.keys(one.areas), ...Object.keys(other.areas)]);
  return one.problem === other.problem && [...places].every((place) => one.areas[place] === other.areas[place]);
}
