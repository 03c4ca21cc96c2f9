// What a protocol must do on the worker's page, so that shell, saving, clock and notices need not know how people are
// asked. Its Python half is hits/protocols/protocol.py.
import type { WarmUpReply } from "../../generated/page";

/**
 * A protocol's own part of an answer: fields that stand beside revision, times and moves, by the cards' places. Only the
 * protocol looks into it.
 */
export type Fields = object;

export interface TaskOptions {
  texts: string[];
  /** What the task reads and changes. A function, since a conflict exchanges it. */
  fields(): Fields;
  /** After each change: of which reply, and what was chosen for it. */
  onMove(place: number, choice: string): void;
  /** Enter, when nothing is missing. */
  onDone(): void;
  /** What to press then, in words. */
  whenDone(): string;
}

/** The replies of one dialog with all that is needed to answer. */
export interface Task {
  readonly element: HTMLElement;
  /** Where a notice is seen and hides nothing. */
  readonly noticePlace: HTMLElement;
  /** As a dialog opens: puts the focus where the work begins. False: there is nothing left to do. */
  begin(describedBy: string): boolean;
  /** Shows the fields as they are now: another tab has changed them. */
  refresh(): void;
  /** Words below a reply, until its answer changes. */
  note(place: number, words: string, isPraise: boolean): void;
  /** After what was done last: how much is missing, or what to press when nothing is. */
  sayWhatIsLeft(): void;
  destroy(): void;
}

/** What came of the same dialog in two tabs. */
export interface MergedFields {
  fields: Fields;
  /** Something of theirs that this page did not show. */
  isTheirNews: boolean;
  /** Places of the replies to which both have given different answers. */
  clashes: number[];
}

/** What the page says about the answers, where other protocols say it in other words. */
export interface ProtocolWords {
  /** For the list of facts: what is done with the conversations. */
  work: string;
  /** Beside a reply of the warm-up. */
  notYet: string;
  allDone: string;
  /** Beside Bonus Validate, each within two lines: before the first check, … */
  ready: string;
  /** … after an answer changed since the check, … */
  changed: string;
  /** … after a check that did not pass, with and without another attempt. */
  tryAgain: string;
  noMore: string;
  /** Another tab has changed answers: none that were changed here, or some (which are named after it). */
  changedElsewhere: string;
  clashed: string;
}

export interface Protocol {
  readonly words: ProtocolWords;
  /** How many replies have no answer yet. */
  missing(fields: Fields, replies: number): number;
  /** "3 replies still have no place." */
  missingWords(missing: number): string;
  /** "3 replies without a place" */
  unfinishedWords(missing: number): string;
  isSame(one: Fields, other: Fields): boolean;
  /**
   * `known` is what the server has had from us: first the last that it acknowledged, then what was sent since, which may
   * have arrived without our hearing of it. Where both changed the same, the server's is the newest.
   */
  merge(known: Fields[], mine: Fields, theirs: Fields): MergedFields;
  makeTask(options: TaskOptions): Task;
  /** Nothing answered: what the warm-up begins with. */
  empty(): Fields;
  /** Whether the warm-up praises the answer to this reply; null where there is none. */
  fits(reply: WarmUpReply, fields: Fields, place: number): boolean | null;
  /** Said in the warm-up: how it is done by pointer and by keys. */
  howTo(): HTMLElement;
  /** The replies as a picture, for who has not accepted yet. */
  picture(texts: string[]): HTMLElement;
}
