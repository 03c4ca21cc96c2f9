// Merge work on the same dialog in two tabs: what each has done counts. The protocol says what that means for the answer.
import type { Answer } from "../generated/page";
import type { DialogSave } from "./data";
import type { Protocol } from "./protocols/contract";

const MOST_MOVES = 200;
const LONGEST_PROBLEM = 1000;

export interface Merged {
  answer: Answer;
  problem: string;
  /** Whether we have something that the server does not have yet. */
  isNews: boolean;
  /** Whether they have something that this page did not show, other than what it sent itself without an answer. */
  isTheirNews: boolean;
  /** The places of replies to which both have given different answers. */
  clashes: number[];
}

/** Merges two states of a dialog. `known` is what the server has had from us: see Protocol.merge. */
export function merge(protocol: Protocol, known: [DialogSave, ...DialogSave[]], mine: DialogSave, theirs: DialogSave): Merged {
  const merged = protocol.merge(known, mine, theirs);
  const base = known[0];
  const answer = {
    ...merged.fields,
    revision: theirs.revision,
    active_ms: theirs.active_ms + Math.max(0, mine.active_ms - base.active_ms),
    hidden_ms: theirs.hidden_ms + Math.max(0, mine.hidden_ms - base.hidden_ms),
    moves: [...theirs.moves, ...mine.moves.slice(base.moves.length)].slice(0, MOST_MOVES),
  };
  const isTypedHere = known.some((one) => one.problem !== mine.problem);
  const isTypedThere = known.every((one) => one.problem !== theirs.problem);
  // Nothing that was typed is thrown away.
  const typed = isTypedThere && theirs.problem !== mine.problem ? `${theirs.problem}\n${mine.problem}` : mine.problem;
  const problem = isTypedHere ? typed.slice(0, LONGEST_PROBLEM) : theirs.problem;
  const isTheirNews = merged.isTheirNews || (isTypedThere && theirs.problem !== mine.problem);
  const isNews = problem !== theirs.problem || !protocol.isSame(merged.fields, theirs);
  return { answer, problem, isNews, isTheirNews, clashes: merged.clashes };
}
