// Everything that the worker does goes to the server from here, one request at a time, latest state per dialog.
import type { CheckAnswer, Dialog, DialogSave, DialogSaved, PageData, SaveBody, Submission } from "./data";
import { type Endpoint, post, Refusal, Unreachable } from "./requests";
import { recover, UnsentStore } from "./unsent";

const DEBOUNCE_MS = 300;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;
const UNREADABLE = ["invalid", "too-large"];

export type SaveState = "saved" | "saving" | "offline" | "failed";

export interface SavingEvents {
  onState(state: SaveState, detail: string): void;
  /** Another tab was faster: the page now holds the server's state of these dialogs. */
  onConflict(positions: number[]): void;
  onRefusal(refusal: Refusal): void;
  /** The moment to bring the running clock into the answers. */
  beforeSending(): void;
}

export class Saver {
  private readonly store: UnsentStore;
  private readonly waiting = new Set<number>();
  private savedStep: string;
  private isFeedbackWaiting = false;
  private attempted: SaveBody | null = null;
  private timer = 0;
  private queue: Promise<void> = Promise.resolve();
  private wakeUp: () => void = () => undefined;
  private isStopped = false;
  private state: SaveState = "saved";

  constructor(
    private readonly data: PageData,
    private readonly events: SavingEvents,
  ) {
    this.store = new UnsentStore(data.token);
    this.savedStep = data.step;
    window.addEventListener("online", () => this.wakeUp());
  }

  /** Takes up what an earlier visit could not send. True when the server had something newer than that. */
  resume(): boolean {
    const unsent = this.store.read();
    if (unsent === null) {
      return false;
    }
    const { positions, isOutdated } = recover(this.data, unsent);
    this.data.step = unsent.step;
    if (unsent.feedback !== null) {
      this.data.feedback = unsent.feedback;
      this.isFeedbackWaiting = true;
    }
    positions.forEach((position) => this.waiting.add(position));
    void this.flush();
    return isOutdated;
  }

  dialogChanged(position: number): void {
    this.waiting.add(position);
    this.sendSoon();
  }

  feedbackChanged(): void {
    this.isFeedbackWaiting = true;
    this.sendSoon();
  }

  /** Sends now. Resolves when all is saved; while the server is out of reach, that takes until it is back. */
  flush(): Promise<void> {
    window.clearTimeout(this.timer);
    this.persist();
    // A refusal has been told by then, to the worker as well.
    return this.inTurn(() => this.sendAll()).catch(() => undefined);
  }

  /** Asks for a bonus point. The placement is saved with it. */
  check(position: number, onWaiting: () => void): Promise<CheckAnswer> {
    return this.inTurn(async () => {
      await this.sendAll(onWaiting);
      const dialog = this.data.dialogs[position];
      if (dialog === undefined || dialog.bonus === null) {
        throw new Error(`There is no bonus in dialog ${position}.`);
      }
      this.events.beforeSending();
      const body = { ...saveOf(dialog, position), attempt: dialog.bonus.attempts + 1 };
      const answer = await this.insist<CheckAnswer>("check", body, onWaiting);
      dialog.answer.revision = answer.revision;
      dialog.bonus = answer.bonus;
      this.show("saved");
      return answer;
    });
  }

  /** One attempt only: the worker is there to press again. */
  submit(onWaiting: () => void): Promise<Submission> {
    return this.inTurn(async () => {
      await this.sendAll(onWaiting);
      const body = { feedback: this.data.feedback, dialogs: [] };
      const submission = await post<Submission>("submit", this.data.token, body).catch((error: unknown) => this.failed(error));
      this.isStopped = true;
      this.store.write(null);
      return submission;
    });
  }

  stop(): void {
    this.isStopped = true;
    window.clearTimeout(this.timer);
  }

  private sendSoon(): void {
    this.persist();
    this.show("saving");
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.flush(), DEBOUNCE_MS);
  }

  private inTurn<T>(task: () => Promise<T>): Promise<T> {
    const result = this.queue.then(task);
    this.queue = result.then(
      () => undefined,
      () => undefined,
    );
    return result;
  }

  private get hasWork(): boolean {
    return this.waiting.size > 0 || this.isFeedbackWaiting || this.data.step !== this.savedStep;
  }

  private async sendAll(onWaiting?: () => void): Promise<void> {
    while (!this.isStopped && this.hasWork) {
      this.events.beforeSending();
      this.attempted = this.nextBody();
      this.persist();
      const answer = await this.insist<{ dialogs: DialogSaved[] }>("save", this.attempted, onWaiting);
      this.settle(this.attempted, answer.dialogs);
    }
  }

  private nextBody(): SaveBody {
    const body: SaveBody = { step: this.data.step, dialogs: this.waitingDialogs() };
    if (this.isFeedbackWaiting) {
      body.feedback = this.data.feedback;
    }
    this.waiting.clear();
    this.isFeedbackWaiting = false;
    return body;
  }

  private waitingDialogs(): DialogSave[] {
    return [...this.waiting].flatMap((position) => {
      const dialog = this.data.dialogs[position];
      return dialog === undefined ? [] : [saveOf(dialog, position)];
    });
  }

  private settle(body: SaveBody, results: DialogSaved[]): void {
    this.attempted = null;
    this.savedStep = body.step;
    const conflicts = results.filter((result) => this.settleDialog(result)).map((result) => result.position);
    this.persist();
    this.show(this.hasWork ? "saving" : "saved");
    if (conflicts.length > 0) {
      this.events.onConflict(conflicts);
    }
  }

  private settleDialog(result: DialogSaved): boolean {
    const dialog = this.data.dialogs[result.position];
    if (dialog === undefined) {
      return false;
    }
    dialog.answer.revision = result.revision;
    if (!result.conflict) {
      return false;
    }
    const { revision, areas, active_ms, hidden_ms, moves, problem, bonus } = result;
    dialog.answer = { revision, areas, active_ms, hidden_ms, moves };
    dialog.problem = problem;
    dialog.bonus = bonus ?? dialog.bonus;
    this.waiting.delete(result.position);
    return true;
  }

  /** The same request again until it is answered: the server may have done it the first time, and then just says so. */
  private async insist<T>(endpoint: Endpoint, body: object, onWaiting?: () => void): Promise<T> {
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
      try {
        this.show("saving");
        return await post<T>(endpoint, this.data.token, body);
      } catch (error) {
        if (!(error instanceof Unreachable)) {
          this.show(endpoint === "save" ? "failed" : "saved", error instanceof Error ? error.message : "");
          return this.failed(error);
        }
        this.show("offline");
        onWaiting?.();
        await this.sleep(Math.max(waitMs * (0.75 + Math.random() / 2), error.retryAfterMs));
      }
    }
  }

  private failed(error: unknown): never {
    // Would be refused forever. Anything else is kept: a worker who may go on after all finds it again.
    if (error instanceof Refusal && UNREADABLE.includes(error.code)) {
      this.attempted = null;
      this.persist();
    }
    if (error instanceof Refusal && error.dialog !== null) {
      this.settleDialog(error.dialog);
      this.events.onConflict([error.dialog.position]);
    } else if (error instanceof Refusal) {
      this.events.onRefusal(error);
    }
    throw error;
  }

  private sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = window.setTimeout(resolve, ms);
      this.wakeUp = () => {
        window.clearTimeout(timer);
        resolve();
      };
    });
  }

  private persist(): void {
    const isAllSent = this.attempted === null && !this.hasWork;
    const feedback = this.isFeedbackWaiting ? this.data.feedback : (this.attempted?.feedback ?? null);
    this.store.write(
      isAllSent ? null : { step: this.data.step, feedback, attempted: this.attempted, dialogs: this.waitingDialogs() },
    );
  }

  private show(state: SaveState, detail = ""): void {
    // While offline, every move tries nothing new: the words stay until something arrives.
    if (state === "saving" && this.state === "offline") {
      return;
    }
    this.state = state;
    const where = this.store.isKept ? "kept in this browser" : "kept on this page";
    this.events.onState(state, state === "offline" ? where : detail);
  }
}

function saveOf(dialog: Dialog, position: number): DialogSave {
  return { position, problem: dialog.problem, ...structuredClone(dialog.answer) };
}
