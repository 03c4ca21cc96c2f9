// What the server puts on the page, and what the page and the server tell each other afterwards.

import type { Fields } from "./protocols/contract";

/** Active milliseconds in the dialog, the card's place, and what was chosen ("" is nothing). */
export type Move = [ms: number, place: number, choice: string];

/** Beside these stand the protocol's own fields. */
export interface Answer {
  revision: number;
  active_ms: number;
  hidden_ms: number;
  moves: Move[];
}

/** What the last check said, and of which answer. Of any other one the page knows nothing. */
export interface Bonus {
  attempts: number;
  attempts_left: number | null;
  checked: Fields | null;
  passed: boolean;
  /** The study counts the first check, which did not pass. */
  is_lost: boolean;
}

export interface Dialog {
  turns: string[];
  cards: string[];
  has_bonus: boolean;
  answer: Answer;
  bonus: Bonus | null;
  problem: string;
}

export interface WarmUpReply {
  text: string;
  praise: string;
  hint: string;
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

/** What the marketplace is to receive, by a form of its own. */
export interface Submission {
  action: string;
  fields: Record<string, string>;
  code: string;
  /** How many were won, in words; "" where there were none to win. */
  points: string;
}

export interface PageData {
  mode: "preview" | "work" | "submitted";
  token: string;
  title: string;
  question: string;
  // Made from Markdown and sanitised by the server.
  welcome: string;
  instructions: string;
  consent: string;
  consent_version: string;
  has_agreed: boolean;
  /** The worker has handed in a HIT of this study before. */
  is_returning: boolean;
  contact: string;
  facts: Facts;
  warm_up: { turns: string[]; replies: WarmUpReply[] };
  dialogs: Dialog[];
  step: string;
  seconds_used: number;
  seconds_allowed: number;
  feedback: string;
  submission: Submission | null;
}

export interface DialogSave extends Answer {
  position: number;
  problem: string;
}

export interface SaveBody {
  step: string;
  feedback?: string;
  consent?: string;
  dialogs: DialogSave[];
}

export type ConflictingDialog = DialogSave & { conflict: true; bonus?: Bonus | null };

export type DialogSaved = { position: number; revision: number; conflict: false } | ConflictingDialog;

export interface CheckAnswer {
  bonus: Bonus;
  revision: number;
}

export function readPageData(): PageData {
  return JSON.parse(document.getElementById("hit")?.textContent ?? "") as PageData;
}
