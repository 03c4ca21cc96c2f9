// Lead a worker through a HIT: which step is shown, what is saved when, and what another tab or a refusal changes.
import { hasWon } from "./bonus_panel";
import { Clock } from "./clock";
import type { Dialog, PageData } from "../generated/page";
import { type DialogStep, dialogStep } from "./dialog_step";
import { button, h, prose } from "./dom";
import { finishStep } from "./finish_step";
import { Trail } from "./going_back";
import { introduction } from "./introduction";
import { letterOf } from "./letters";
import { isFinal, showNotice } from "./notices";
import { instructionsStep } from "./opening_steps";
import type { Fields, Protocol } from "./protocols/contract";
import type { Refusal } from "./requests";
import { Saver } from "./saving";
import { Shell, type Step } from "./shell";
import { showSubmitted } from "./submitting";
import { Stopwatch } from "./timing";
import type { Conflict } from "./unsent";
import { welcomeStep } from "./welcome_step";

/** A place on the way through the HIT. The worker's place is saved by its name. */
interface Stop {
  name: string;
  make(): Step;
}

const AT_BEGINNING = "This is the first page, and all that you did is saved. To leave the study, close this page.";

export class Work {
  private readonly welcome: Stop;
  private readonly instructions: Stop;
  private readonly dialogs: Stop[];
  /** All stops in order. */
  private readonly stops: Stop[];
  private readonly shell: Shell;
  private readonly saver: Saver;
  private readonly stopwatch = new Stopwatch();
  private readonly clock: Clock;
  private readonly warmUp: Fields;
  private readonly trail: Trail;
  private step: Step | null = null;
  private dialogShown: { position: number; step: DialogStep } | null = null;

  constructor(
    private readonly root: HTMLElement,
    private readonly protocol: Protocol,
    private readonly data: PageData,
    /** Builds something, and shows words that help if that fails. */
    private readonly orExplain: (build: () => void) => void,
  ) {
    this.warmUp = protocol.empty();
    this.welcome = { name: "welcome", make: () => welcomeStep(protocol, data, () => this.agree()) };
    this.instructions = {
      name: "instructions",
      make: () => instructionsStep(protocol, data, this.warmUp, () => this.next()),
    };
    this.dialogs = data.dialogs.map((dialog, position) => ({
      name: `dialog-${position}`,
      make: () => this.makeDialogStep(dialog, position),
    }));
    const finish = { name: "finish", make: () => this.makeFinishStep() };
    this.stops = [this.welcome, this.instructions, ...this.dialogs, finish];
    this.clock = new Clock(data.seconds_used, data.seconds_allowed, data.may_be_late);
    const instructions = instructionsDialog(protocol, data);
    this.shell = new Shell(root, {
      title: data.title,
      clock: this.clock.element,
      hasPoints: data.dialogs.some((dialog) => dialog.bonus !== null),
      onInstructions: () => instructions.showModal(),
      onBack: () => this.trail.goBackTo((this.stops[this.index - 1] ?? this.welcome).name),
      onNext: () => this.next(),
    });
    root.append(instructions);
    this.trail = new Trail({
      show: (name) => this.showNamed(name),
      stayAtBeginning: () => this.shell.notify(AT_BEGINNING),
    });
    this.saver = new Saver(data, protocol, {
      onState: (state, detail) => this.shell.showSaveState(state, detail),
      onConflict: (conflicts) => this.showBoth(conflicts),
      onRefusal: (refusal) => this.refused(refusal),
      beforeSending: () => this.stopwatch.lap(),
    });
  }

  start(): void {
    const conflicts = this.saver.resume();
    this.showPoints();
    this.shell.showSaveState("saved", "");
    this.show((this.data.has_agreed ? this.stops[this.index] : undefined) ?? this.welcome);
    this.trail.begin(this.data.step);
    // When time is over, the server refuses a save with words that say what happened, whether it is paid and what to do,
    // unless late work is taken.
    this.clock.start(this.shell.announce, () => this.saveBeforeLeaving());
    if (conflicts.length > 0) {
      this.shell.notify(this.inWords(conflicts));
    }
    window.addEventListener("beforeunload", (event) => {
      if (this.saver.hasUnsent) {
        event.preventDefault();
      }
    });
    window.addEventListener("pagehide", () => this.saveBeforeLeaving());
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "hidden") {
        this.saveBeforeLeaving();
      } else {
        this.saver.lookAgain();
      }
    });
  }

  private get index(): number {
    return this.stops.findIndex((stop) => stop.name === this.data.step);
  }

  private next(): void {
    const missing = this.step?.missing() ?? "";
    if (missing === "") {
      this.goTo(this.stops[this.index + 1]);
    } else {
      this.shell.tell(missing);
    }
  }

  /** Goes to a stop or, without one, to the first. */
  private goTo(stop: Stop = this.welcome): void {
    this.trail.goTo(stop.name);
    this.show(stop);
  }

  /** Shows the stop that the browser went back or forward to; "" is the one before. Returns false if there is none. */
  private showNamed(name: string): boolean {
    const stop = name === "" ? this.stops[this.index - 1] : this.stops.find((one) => one.name === name);
    if (stop !== undefined) {
      this.show(stop);
    }
    return stop !== undefined;
  }

  private show(stop: Stop): void {
    this.orExplain(() => {
      const isFirst = this.step === null;
      this.leaveStep();
      this.data.step = stop.name;
      this.step = stop.make();
      this.shell.show(this.step, this.index, this.stops.length - 1, isFirst);
    });
    void this.saver.flush();
  }

  private leaveStep(): void {
    this.step?.leave();
    if (this.dialogShown !== null) {
      this.stopwatch.stop();
      this.saver.dialogChanged(this.dialogShown.position);
      this.dialogShown = null;
    }
  }

  private agree(): void {
    this.saver.agree();
    this.goTo(this.data.is_returning ? this.dialogs[0] : this.instructions);
  }

  private makeDialogStep(dialog: Dialog, position: number): Step {
    const step = dialogStep(this.protocol, this.data, dialog, position, {
      goOn: () => this.next(),
      dialogChanged: () => {
        this.shell.tell("");
        this.shell.showReadiness(step);
        this.showPoints();
        this.saver.dialogChanged(position);
      },
      lap: () => this.stopwatch.lap(),
      check: async (onWaiting) => {
        const answer = await this.saver.check(position, onWaiting);
        this.showPoints();
        return answer;
      },
    });
    this.stopwatch.start(() => dialog.answer);
    this.dialogShown = { position, step };
    return step;
  }

  private makeFinishStep(): Step {
    return finishStep(this.protocol, this.data, {
      onFeedback: () => this.saver.feedbackChanged(),
      goToDialog: (position) => this.goTo(this.dialogs[position]),
      submit: (onWaiting) => this.saver.submit(onWaiting),
      onSubmitted: (submission) => {
        this.trail.end();
        showSubmitted(this.root, this.data.crowd, submission, true);
      },
    });
  }

  private saveBeforeLeaving(): void {
    this.stopwatch.lap();
    if (this.dialogShown !== null) {
      this.saver.dialogChanged(this.dialogShown.position);
    }
    void this.saver.flush();
  }

  private showBoth(conflicts: Conflict[]): void {
    if (this.dialogShown !== null && conflicts.some((one) => one.position === this.dialogShown?.position)) {
      this.dialogShown.step.refresh();
      this.shell.showReadiness(this.dialogShown.step);
    }
    this.showPoints();
    this.shell.notify(this.inWords(conflicts));
  }

  private inWords(conflicts: Conflict[]): string {
    const clashes = conflicts.flatMap(({ position, clashes }) =>
      clashes.map((place) => `reply ${letterOf(place)} of conversation ${position + 1}`),
    );
    return clashes.length === 0
      ? this.protocol.words.changedElsewhere
      : `${this.protocol.words.clashed}: ${clashes.join(", ")}. The newest is shown.`;
  }

  /** Shows points that a check promised and whose answers have not changed since. The server tells no others. */
  private showPoints(): void {
    const hasChecked = this.data.dialogs.some((dialog) => (dialog.bonus?.attempts ?? 0) > 0);
    this.shell.showPoints(hasChecked ? this.data.dialogs.filter((dialog) => hasWon(this.protocol, dialog)).length : null, this.data.facts.bonus_dialogs);
  }

  private refused(refusal: Refusal): void {
    if (isFinal(refusal)) {
      this.saver.stop();
      this.leaveForGood();
      showNotice(this.root, this.data.crowd, refusal);
    }
  }

  private leaveForGood(): void {
    this.trail.end();
    this.step?.leave();
    this.stopwatch.stop();
    this.dialogShown = null;
  }
}

function instructionsDialog(protocol: Protocol, data: PageData): HTMLDialogElement {
  const dialog = h("dialog", { class: "sheet", "aria-label": "Instructions" });
  const close = button("Close", "button button-quiet button-small", () => dialog.close());
  dialog.append(
    h("div", { class: "sheet-head" }, h("h2", {}, "Instructions"), close),
    prose(data.instructions),
    introduction(protocol, data),
  );
  return dialog;
}
