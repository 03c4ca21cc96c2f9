// A HIT of two dialogs with three replies each, as the server puts it on the page.
import type { Dialog, PageData } from "../src/generated/page";
import type { DialogSave } from "../src/worker/data";

export const AREAS = [
  { key: "good", label: "Good" },
  { key: "bad", label: "Bad" },
];

export function page(): PageData {
  const data: Partial<PageData> & { areas: typeof AREAS } = {
    mode: "work",
    token: "a token of more than sixteen letters",
    areas: AREAS,
    consent_version: "1",
    has_agreed: true,
    dialogs: [dialog(), dialog()],
    step: "dialog-0",
    feedback: "",
  };
  return data as PageData;
}

function dialog(): Dialog {
  const answer = { revision: 0, areas: {}, active_ms: 0, hidden_ms: 0, moves: [] };
  const bonus = { attempts: 0, attempts_left: null, checked: null, passed: false, is_lost: false };
  return { turns: ["Hi."], cards: ["a", "b", "c"], has_bonus: true, answer, bonus, problem: "" };
}

export function save(areas: Record<string, string>, more: Partial<DialogSave> = {}): DialogSave {
  const fields = { areas };
  return { position: 0, problem: "", revision: 1, active_ms: 0, hidden_ms: 0, moves: [], ...fields, ...more };
}

export function areasOf(answer: object | undefined): unknown {
  return (answer as { areas: unknown } | undefined)?.areas;
}
