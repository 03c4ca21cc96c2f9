// Save everything that the worker does: one request at a time, with the latest state of each dialog.
import type { PageData, SubmitOut } from "../generated/page";
import type { CheckAnswer, DialogSave, DialogSaved, SaveBody } from "./data";
import { Line, type OnWaiting } from "./line";
import { merge } from "./merging";
import type { Protocol } from "./protocols/contract";
import { type Endpoint, Refusal } from "./requests";
import { type Conflict, recover, saveOf, UnsentStore } from "./unsent";

const DEBOUNCE_MS = 300;
const UNREADABLE = ["invalid", "too-large"];

export type SaveState = "saved" | "saving" | "offline" | "failed";

export interface SavingEvents {
  onState(state: SaveState, detail: string): void;
  /** Is called if another tab was faster. The page now has what both did in these dialogs. */
  onConflict(conflicts: Conflict[]): void;
  onRefusal(refusal: Refusal): void;
  /** Is called before sending, to add the running clock to the answers. */
  beforeSending(): void;
}

export class Saver {
  private readonly store: UnsentStore;
  private readonly line: Line;
  private readonly waiting = new Set<number>();
  /** For each dialog, the last state that the server surely got from this tab, or had instead. */
  private readonly acknowledged: DialogSave[];
  private savedStep: string;
  private isFeedbackWaiting = false;
  private isConsentWaiting = false;
  private attempted: SaveBody | null = null;
  private timer = 0;
  private isStopped = false;
  private state: SaveState = "saved";

  constructor(
    private readonly data: PageData,
    private readonly protocol: Protocol,
    private readonly events: SavingEvents,
  ) {
    this.store = new UnsentStore(data.token);
    this.savedStep = data.step;
    this.acknowledged = data.dialogs.map(saveOf);
    this.line = new Line(data.token, () => this.show("offline"));
  }

  /** Recovers what an earlier visit could not send. Returns where another tab has changed the same answers meanwhile. */
  resume(): Conflict[] {
    const found: Conflict[] = [];
    this.store.takeOver((unsent) => {
      const { positions, conflicts } = recover(this.protocol, this.data, unsent);
      this.data.step = unsent.step;
      if (unsent.hasAgreed) {
        this.agree();
      }
      if (unsent.feedback !== null) {
        this.data.feedback = unsent.feedback;
        this.isFeedbackWaiting = true;
      }
      positions.forEach((position) => this.waiting.add(position));
      found.push(...conflicts);
      this.persist();
    });
    void this.flush();
    return found;
  }

  /** Whether the worker did something that the server has not confirmed. The present step alone does not count. */
  get hasUnsent(): boolean {
    const isOnItsWay = this.attempted !== null && (this.attempted.dialogs.length > 0 || "feedback" in this.attempted);
    return !this.isStopped && (isOnItsWay || this.waiting.size > 0 || this.isFeedbackWaiting);
  }

  /** Notes that the worker agreed to the consent text. The next save sends it. */
  agree(): void {
    this.isConsentWaiting = !this.data.has_agreed;
    this.data.has_agreed = true;
  }

  dialogChanged(position: number): void {
    this.waiting.add(position);
    this.sendSoon();
  }

  feedbackChanged(): void {
    this.isFeedbackWaiting = true;
    this.sendSoon();
  }

  /** Sends now. Resolves when all is saved; if the server is out of reach, that is when it is back. */
  flush(): Promise<void> {
    window.clearTimeout(this.timer);
    this.persist();
    // The worker has already been told about a refusal.
    return this.line.enqueue(() => this.sendAll()).catch(() => undefined);
  }

  /** Asks the server whether the worker may still go on, if there is nothing to save: they may have handed in on another device. */
  lookAgain(): void {
    const look = async (): Promise<void> => {
      if (!this.isStopped && this.data.has_agreed && !this.hasWork) {
        await this.line.once("save", { dialogs: [] }).catch((error: unknown) => this.failed(error));
      }
    };
    void this.line.enqueue(look).catch(() => undefined); // without a connection, the next save says so
  }

  /** Asks for a bonus point, which also saves the answer. */
  check(position: number, onWaiting: OnWaiting): Promise<CheckAnswer> {
    return this.line.enqueueAloud(onWaiting, async () => {
      await this.sendAll();
      const dialog = this.data.dialogs[position];
      if (dialog === undefined || dialog.bonus === null) {
        throw new Error(`There is no bonus in dialog ${position}.`);
      }
      this.events.beforeSending();
      const body = { ...saveOf(dialog, position), attempt: dialog.bonus.attempts + 1 };
      const answer = await this.insist<CheckAnswer>("check", body);
      this.settleDialog({ position, revision: answer.revision, conflict: false }, body);
      dialog.bonus = answer.bonus;
      this.show("saved");
      return answer;
    });
  }

  /** Submits, with one attempt only, since the worker can press the button again. */
  submit(onWaiting: OnWaiting): Promise<SubmitOut> {
    return this.line.enqueueAloud(onWaiting, async () => {
      await this.sendAll();
      // All of it, though it is saved: what this page hands to the crowd is what it shows, whoever else has
      // submitted with the same ids.
      const dialogs = this.data.dialogs.map(saveOf);
      const body = { feedback: this.data.feedback, dialogs };
      const submission = await this.line.once<SubmitOut>("submit", body).catch((error: unknown) => {
        const conflict = error instanceof Refusal ? error.dialog?.position : undefined;
        return this.failed(error, dialogs.find((one) => one.position === conflict));
      });
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

  private get hasWork(): boolean {
    const hasNews = this.waiting.size > 0 || this.isFeedbackWaiting || this.isConsentWaiting;
    return hasNews || this.data.step !== this.savedStep;
  }

  private async sendAll(): Promise<void> {
    // Send nothing before the worker has agreed. What an earlier visit left waits until then.
    while (!this.isStopped && this.data.has_agreed && this.hasWork) {
      this.events.beforeSending();
      this.attempted = this.nextBody();
      this.persist();
      const answer = await this.insist<{ dialogs: DialogSaved[] }>("save", this.attempted);
      this.settle(this.attempted, answer.dialogs);
    }
  }

  private nextBody(): SaveBody {
    const body: SaveBody = { step: this.data.step, dialogs: this.waitingDialogs() };
    if (this.isFeedbackWaiting) {
      body.feedback = this.data.feedback;
    }
    if (this.isConsentWaiting) {
      body.consent = this.data.consent_version;
    }
    this.waiting.clear();
    this.isFeedbackWaiting = false;
    this.isConsentWaiting = false;
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
    const conflicts = results.flatMap((result) => {
      const sent = body.dialogs.find((one) => one.position === result.position);
      return sent === undefined ? [] : this.settleDialog(result, sent);
    });
    this.persist();
    this.show(this.hasWork ? "saving" : "saved");
    if (conflicts.length > 0) {
      this.events.onConflict(conflicts);
    }
  }

  /** Handles the server's answer about a dialog that was sent. */
  private settleDialog(result: DialogSaved, sent: DialogSave): Conflict[] {
    const { position } = result;
    const [dialog, base] = [this.data.dialogs[position], this.acknowledged[position]];
    if (dialog === undefined || base === undefined) {
      return [];
    }
    if (!result.conflict) {
      dialog.answer.revision = result.revision;
      this.acknowledged[position] = sent;
      return [];
    }
    const mine = saveOf(dialog, position);
    const { answer, problem, isNews, isTheirNews, clashes } = merge(this.protocol, [base, sent], mine, result);
    dialog.answer = answer;
    dialog.problem = problem;
    dialog.bonus = result.bonus ?? dialog.bonus;
    this.acknowledged[position] = structuredClone(result);
    this.waiting.delete(position);
    if (isNews) {
      this.waiting.add(position);
    }
    return isTheirNews ? [{ position, clashes }] : [];
  }

  private insist<T>(endpoint: Endpoint, body: object): Promise<T> {
    this.show("saving");
    return this.line.insist<T>(endpoint, body).catch((error: unknown) => {
      this.show(endpoint === "save" ? "failed" : "saved", error instanceof Error ? error.message : "");
      return this.failed(error, body);
    });
  }

  private failed(error: unknown, body?: object): never {
    // It would be refused for ever, so forget it. Anything else stays stored for a worker who may go on after all.
    if (error instanceof Refusal && UNREADABLE.includes(error.code)) {
      this.attempted = null;
      this.persist();
    }
    if (error instanceof Refusal && error.dialog !== null) {
      this.events.onConflict(this.settleDialog(error.dialog, body as DialogSave));
      if (this.hasWork) {
        this.sendSoon();
      }
    } else if (error instanceof Refusal) {
      this.events.onRefusal(error);
    }
    throw error;
  }

  private persist(): void {
    const isAllSent = this.attempted === null && !this.hasWork;
    const { step } = this.data;
    const { attempted } = this;
    const feedback = this.isFeedbackWaiting ? this.data.feedback : (attempted?.feedback ?? null);
    const hasAgreed = this.isConsentWaiting || attempted?.consent !== undefined;
    const dialogs = this.waitingDialogs();
    const positions = new Set([...dialogs, ...(attempted?.dialogs ?? [])].map((one) => one.position));
    const acknowledged = this.acknowledged.filter((one) => positions.has(one.position));
    this.store.write(isAllSent ? null : { step, feedback, hasAgreed, attempted, dialogs, acknowledged });
  }

  private show(state: SaveState, detail = ""): void {
    // While offline, moves change nothing: the words stay until something arrives.
    if (state === "saving" && this.state === "offline") {
      return;
    }
    this.state = state;
    const where = this.store.isKept ? "kept in this browser" : "kept on this page";
    this.events.onState(state, state === "offline" ? where : detail);
  }
}
