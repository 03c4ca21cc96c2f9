// Written by `manage.py write_page_types` from hits/api/page_schemas.py: change it there.

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

export interface Dialog {
  turns: string[];
  cards: string[];
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
  hourly: string;
  approval: string;
  bonus: string;
  bonus_rule: string;
  what_counts: string;
  bonus_dialogs: number;
  max_hits: number;
}

export interface PageData {
  /** Shown is for the researcher's eyes: it has one dialog or none, and nothing of it can be changed. */
  mode: "preview" | "work" | "submitted" | "shown";
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
  feedback: string;
  submission: SubmitOut | null;
}

export interface SubmitOut {
  /** Where the page posts the fields, as a form. */
  action: string;
  fields: Record<string, string>;
  code: string;
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
