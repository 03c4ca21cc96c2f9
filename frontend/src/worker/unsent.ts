// What the server has not confirmed yet, kept over a reload or a crash. Browsers may deny storage in another site's frame.
import type { DialogSave, PageData, SaveBody } from "./data";

export interface Unsent {
  step: string;
  feedback: string | null;
  /** Sent, but nobody knows whether it arrived. */
  attempted: SaveBody | null;
  dialogs: DialogSave[];
}

export class UnsentStore {
  private readonly key: string;
  isKept = true;

  constructor(token: string) {
    this.key = `evalplatform unsent ${token.slice(-16)}`;
  }

  read(): Unsent | null {
    try {
      return JSON.parse(localStorage.getItem(this.key) ?? "null") as Unsent | null;
    } catch {
      return null;
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
  positions: number[];
  isOutdated: boolean;
}

/** Puts unsent work back into the page, unless the server has something newer. */
export function recover(data: PageData, unsent: Unsent): Recovered {
  const recovered: Recovered = { positions: [], isOutdated: false };
  const attempted = unsent.attempted?.dialogs ?? [];
  const latest = new Map([...attempted, ...unsent.dialogs].map((save) => [save.position, save]));
  for (const save of latest.values()) {
    const dialog = data.dialogs[save.position];
    if (dialog === undefined) {
      continue;
    }
    const onServer = { ...dialog.answer, problem: dialog.problem };
    const sent = attempted.find((one) => one.position === save.position);
    if (isSame(save, onServer)) {
      continue;
    }
    // Our own attempt arrived, only its confirmation did not: what came after it is still the newest.
    const isOursOnServer = sent !== undefined && isSame(sent, onServer);
    if (save.revision !== onServer.revision && !isOursOnServer) {
      recovered.isOutdated = true;
      continue;
    }
    const { position, problem, ...answer } = save;
    dialog.answer = { ...answer, revision: onServer.revision };
    dialog.problem = problem;
    recovered.positions.push(position);
  }
  return recovered;
}

type Content = Pick<DialogSave, "areas" | "problem">;

function isSame(one: Content, other: Content): boolean {
  const places = new Set([...Object.keys(one.areas), ...Object.keys(other.areas)]);
  return one.problem === other.problem && [...places].every((place) => one.areas[place] === other.areas[place]);
}
