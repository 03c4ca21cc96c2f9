// Define what a protocol must do on the worker's page, so that shell, saving, clock and notices need not know how
// people are asked. Its Python half is hits/protocols/protocol.py.
import type { WarmUpReply } from "../../generated/page";
import type { Choice } from "./choices";

/**
 * A protocol's own part of an answer: fields that stand beside revision, times and moves, by the cards' places. Only the
 * protocol looks into it.
 */
export type Fields = object;

export interface TaskOptions {
  texts: string[];
  /** Returns what the task reads and changes. It is a function, because a conflict replaces the fields. */
  fields(): Fields;
  /**
   * Is called after each change, with the reply's place and what was chosen for it: choiceOf("good"), or, where there are
   * several criteria, choiceOf("7", "empathy"). It is noted beside the answer, never instead of it: the server refuses a
   * whole save if a note is longer than 30 characters or has other ones than small letters, digits and underscores, so
   * only `choiceOf` makes one.
   */
  onMove(place: number, choice: Choice): void;
  /** Is called at Enter if nothing is missing. */
  onDone(): void;
  /** Returns what to press then, in words. */
  whenDone(): string;
}

/** The replies of one dialog with all that is needed to answer. */
export interface Task {
  readonly element: HTMLElement;
  /** Where a notice is visible and hides nothing. */
  readonly noticePlace: HTMLElement;
  /** Puts the focus where the work begins, when a dialog opens. Returns false if there is nothing left to do. */
  begin(describedBy: string): boolean;
  /** Shows the present fields, after another tab has changed them. */
  refresh(): void;
  /** Shows words below a reply until its answer changes. */
  note(place: number, words: string, isPraise: boolean): void;
  /** Says, after the last change, how much is missing, or what to press if nothing is. */
  sayWhatIsLeft(): void;
  /** Shows all replies with their answers at once, for somebody who only looks: researchers, and readers of a bundle. */
  showAll(): void;
  /** Stops listening to anything but its own element, which stays as it is: researchers' pages go on showing it. */
  destroy(): void;
}

/** The outcome of merging the same dialog from two tabs. */
export interface MergedFields {
  fields: Fields;
  /** Whether they have something that this page did not show. */
  isTheirNews: boolean;
  /** The places of replies to which both have given different answers. */
  clashes: number[];
}

/** The page's words about answers, which differ between protocols. */
export interface ProtocolWords {
  /** For the list of facts: what is done with the conversations. */
  work: string;
  /** Beside a reply of the warm-up. */
  notYet: string;
  allDone: string;
  /** After Validate in the warm-up, if not all answers fit; "and validate again" follows. */
  changeAny: string;
  /** Where a problem with a conversation is reported: to answer all the same. */
  allTheSame: string;
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
  /** Returns how many replies have no answer yet. */
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
  /** Returns fields without any answer, with which the warm-up begins. */
  empty(): Fields;
  /** Returns whether the warm-up praises the answer to this reply, or null if there is no answer. */
  fits(reply: WarmUpReply, fields: Fields, place: number): boolean | null;
  /** Explains in the warm-up how to answer by pointer and by keys. */
  howTo(): HTMLElement;
  /** Shows the replies as a picture in the preview, before the worker accepts. */
  picture(texts: string[]): HTMLElement;
}
