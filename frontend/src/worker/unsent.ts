// Store what the server has not confirmed yet, so that it survives a reload or crash. Browsers may deny storage in a frame.
import type { Dialog, PageData } from "../generated/page";
import type { DialogSave, SaveBody } from "./data";
import { merge } from "./merging";
import type { Protocol } from "./protocols/contract";

export interface Unsent {
  step: string;
  feedback: string | null;
  hasAgreed: boolean;
  /** What was sent without knowing whether it arrived. */
  attempted: SaveBody | null;
  dialogs: DialogSave[];
  /** What the server last acknowledged of these dialogs. */
  acknowledged: DialogSave[];
}

/** A dialog that another tab changed meanwhile, and the places of the cards that both have moved. */
export interface Conflict {
  position: number;
  clashes: number[];
}

export class UnsentStore {
  private readonly prefix: string;
  /** Each page has its own key: what one page has sent says nothing about another. */
  private readonly key: string;
  isKept = true;

  constructor(token: string) {
    this.prefix = `evalplatform unsent work ${token.slice(-16)}`;
    this.key = `${this.prefix} ${Math.random()}`;
  }

  /** Takes over what earlier visits and other tabs have left. */
  takeOver(take: (unsent: Unsent) => void): void {
    try {
      for (const key of Object.keys(localStorage).filter((one) => one.startsWith(this.prefix) && one !== this.key)) {
        take(JSON.parse(localStorage.getItem(key) ?? "null") as Unsent);
        localStorage.removeItem(key);
      }
    } catch {
      this.isKept = false;
    }
  }

  write(unsent: Unsent | null): void {
    try {
      if (unsent === null) {
        localStorage.removeItem(this.key);
      } else {
        localStorage.setItem(this.key, JSON.stringify(unsent));
      }
      this.isKept = true;
    } catch {
      this.isKept = false;
    }
  }
}

export interface Recovered {
  /** The positions of dialogs that have to be sent again. */
  positions: number[];
  conflicts: Conflict[];
}

/** Puts unsent work back into the page, merged with what the server got from another tab meanwhile. */
export function recover(protocol: Protocol, data: PageData, unsent: Unsent): Recovered {
  const recovered: Recovered = { positions: [], conflicts: [] };
  const attempted = unsent.attempted?.dialogs ?? [];
  const latest = new Map([...attempted, ...unsent.dialogs].map((save) => [save.position, save]));
  for (const [position, mine] of latest) {
    const dialog = data.dialogs[position];
    if (dialog === undefined) {
      continue;
    }
    const at = (one: DialogSave): boolean => one.position === position;
    const onServer = saveOf(dialog, position);
    const merged = merge(protocol, [unsent.acknowledged.find(at) ?? onServer, ...attempted.filter(at)], mine, onServer);
    dialog.answer = merged.answer;
    dialog.problem = merged.problem;
    if (merged.isNews) {
      recovered.positions.push(position);
    }
    if (merged.clashes.length > 0) {
      recovered.conflicts.push({ position, clashes: merged.clashes });
    }
  }
  return recovered;
}

export function saveOf(dialog: Dialog, position: number): DialogSave {
  return { position, problem: dialog.problem, ...structuredClone(dialog.answer) };
}
