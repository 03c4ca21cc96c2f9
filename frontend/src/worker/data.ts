// Define what page and server send each other after the page was opened.
import type { Answer, BonusOut, PageData } from "../generated/page";

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

export type ConflictingDialog = DialogSave & { conflict: true; bonus?: BonusOut | null };

export type DialogSaved = { position: number; revision: number; conflict: false } | ConflictingDialog;

export interface CheckAnswer {
  bonus: BonusOut;
  revision: number;
}

export function readPageData(): PageData {
  return JSON.parse(document.getElementById("hit")?.textContent ?? "") as PageData;
}
