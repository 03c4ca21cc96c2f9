// Written by `manage.py write_page_types` from hits/api/page_schemas.py: change it there.

export const CHOICE_PATTERN = "^[a-z0-9_]{0,30}$";
export const LONGEST_CHOICE = 30;

export interface Answer {
  revision: number;
  active_ms: number;
  hidden_ms: number;
  /** Active milliseconds in the dialog, the card's place, and what was chosen ("" is nothing). */
  moves: [number, number, string][];
}

export interface BonusOut {
  attempts: number;
  attempts_left: number | null;
  /** The answer that was checked last, in the protocol's fields. */
  checked: object | null;
  /** Whether that one would win the point if it stays as it is. */
  passed: boolean;
  /** The study counts the first check, and it did not pass. */
  is_lost: boolean;
}

/** Nouns are written as inside a sentence; sentences end with their full stop. */
export interface CrowdWords {
  hit: string;
  hits: string;
  marketplace: string;
  worker: string;
  requester: string;
  accept_first: string;
  asked_later: string;
  open_it: string;
  return_it: string;
  declined: string;
  write_or_return: string;
  points_later: string;
  approved_by_itself: string;
  approved_at_once: string;
  handing_over: string;
  hand_over_again: string;
  hand_over_button: string;
  code_hint: string;
}

export interface Dialog {
  turns: string[];
  cards: string[];
  /** What to answer; only attention checks have it. */
  told?: string;
  has_bonus: boolean;
  answer: Answer;
  bonus: BonusOut | null;
  problem: string;
}

export interface Facts {
  requester: string;
  dialogs: number;
  expected_minutes: number;
  time_limit_minutes: number;
  reward: string;
  /** What stands for the pay where there is none. */
  unpaid: string;
  hourly: string;
  approval: string;
  bonus: string;
  bonus_rule: string;
  what_counts: string;
  bonus_dialogs: number;
  max_hits: number;
}

export interface PageData {
  /** What the worker's crowd calls things, and says of coming and going. */
  crowd: CrowdWords;
  /** Shown is for the researcher's eyes: it has one dialog or none, and nothing of it can be changed. */
  mode: "preview" | "work" | "submitted" | "shown" | "step";
  token: string;
  title: string;
  question: string;
  /** Made from Markdown and sanitised by the server, as the next three are. */
  welcome: string;
  instructions: string;
  consent: string;
  contact: string;
  consent_version: string;
  has_agreed: boolean;
  /** The worker has handed in a HIT of this study before. */
  is_returning: boolean;
  facts: Facts;
  warm_up: WarmUp;
  dialogs: Dialog[];
  step: string;
  seconds_used: number;
  seconds_allowed: number;
  /** Work is taken when the time is over, too: then others may get its place. */
  may_be_late: boolean;
  feedback: string;
  submission: SubmitOut | null;
}

/** How the worker gets back to the crowd. */
export interface SubmitOut {
  /** Post the fields to the action as a form, go to the action, or let the worker take the code there. */
  way: "form" | "redirect" | "code";
  action: string;
  fields: Record<string, string>;
  /** What the worker may quote; where the way is `code`, what they enter there. It may be empty. */
  code: string;
  /** Where the worker may do another HIT now; empty where there is none for them. */
  more_url: string;
  /** How many bonus points were won, in words; empty where there were none to win. */
  points: string;
}

export interface WarmUp {
  turns: string[];
  replies: WarmUpReply[];
}

export interface WarmUpReply {
  text: string;
  praise: string;
  hint: string;
}
