// The way through a HIT: which step is shown, what is saved when, and what another tab or a refusal changes.
import { hasWon } from "./bonus_panel";
import { startClock } from "./clock";
import type { PageData, Placements } from "./data";
import { type DialogStep, dialogStep } from "./dialog_step";
import { button, h, prose } from "./dom";
import { finishStep } from "./finish_step";
import { isFinal, showNotice } from "./notices";
import { instructionsStep, welcomeStep } from "./opening_steps";
import type { Refusal } from "./requests";
import { Saver } from "./saving";
import { Shell, type Step } from "./shell";
import { showSubmitted } from "./submitting";
import { Stopwatch } from "./timing";

const NEWEST = "Changed in another tab; showing the newest.";

export class Work {
  private readonly names: string[];
  private readonly shell: Shell;
  private readonly saver: Saver;
  private readonly stopwatch = new Stopwatch();
  private readonly warmUp: Placements = {};
  private readonly instructions: HTMLDialogElement;
  private step: Step | null = null;
  private dialogShown: { position: number; step: DialogStep } | null = null;

  constructor(
    private readonly root: HTMLElement,
    private readonly data: PageData,
  ) {
    this.names = ["welcome", "instructions", ...data.dialogs.map((_, position) => `dialog-${position}`), "finish"];
    this.instructions = instructionsDialog(data);
    this.shell = new Shell(root, {
      clock: startClock(data.seconds_used, data.seconds_allowed, (words) => this.shell.announce(words)),
      hasPoints: data.dialogs.some((dialog) => dialog.bonus !== null),
      onInstructions: () => this.instructions.showModal(),
      onBack: () => this.goTo(this.index - 1),
      onNext: () => this.next(),
    });
    root.append(this.instructions);
    this.saver = new Saver(data, {
      onState: (state, detail) => this.shell.showSaveState(state, detail),
      onConflict: (positions) => this.takeNewest(positions),
      onRefusal: (refusal) => this.refused(refusal),
      beforeSending: () => this.stopwatch.lap(),
    });
  }

  start(): void {
    const isOutdated = this.saver.resume();
    this.showPoints();
    this.shell.showSaveState("saved", "");
    this.goTo(Math.max(0, this.index));
    if (isOutdated) {
      this.shell.notify(NEWEST);
    }
    window.addEventListener("pagehide", () => this.saveBeforeLeaving());
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "hidden") {
        this.saveBeforeLeaving();
      }
    });
  }

  private get index(): number {
    return this.names.indexOf(this.data.step);
  }

  private next(): void {
    const missing = this.step?.missing() ?? "";
    if (missing === "") {
      this.goTo(this.index + 1);
    } else {
      this.shell.tell(missing);
    }
  }

  private goTo(index: number): void {
    const isFirst = this.step === null;
    this.leaveStep();
    this.data.step = this.names[index] ?? "welcome";
    this.step = this.makeStep(index);
    this.shell.show(this.step, index, this.names.length - 1, isFirst);
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

  private makeStep(index: number): Step {
    switch (this.names[index]) {
      case "welcome":
        return welcomeStep(this.data);
      case "instructions":
        return instructionsStep(this.data, this.warmUp, this.shell.announce);
      case "finish":
        return this.makeFinishStep();
      default:
        return this.makeDialogStep(index - 2);
    }
  }

  private makeDialogStep(position: number): Step {
    const dialog = this.data.dialogs[position];
    if (dialog === undefined) {
      return welcomeStep(this.data);
    }
    const step = dialogStep(this.data, dialog, position, {
      announce: this.shell.announce,
      onChange: () => {
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
    return finishStep(this.data, {
      onFeedback: () => this.saver.feedbackChanged(),
      goToDialog: (position) => this.goTo(position + 2),
      submit: (onWaiting) => this.saver.submit(onWaiting),
      onSubmitted: (submission) => showSubmitted(this.root, submission, true),
    });
  }

  private saveBeforeLeaving(): void {
    this.stopwatch.lap();
    if (this.dialogShown !== null) {
      this.saver.dialogChanged(this.dialogShown.position);
    }
    void this.saver.flush();
  }

  private takeNewest(positions: number[]): void {
    if (this.dialogShown !== null && positions.includes(this.dialogShown.position)) {
      this.dialogShown.step.refresh();
      this.shell.showReadiness(this.dialogShown.step);
    }
    this.showPoints();
    this.shell.notify(NEWEST);
  }

  /** Those that a check promised and that still stand as they were checked: the server tells no others. */
  private showPoints(): void {
    this.shell.showPoints(this.data.dialogs.filter(hasWon).length, this.data.facts.bonus_dialogs);
  }

  private refused(refusal: Refusal): void {
    if (isFinal(refusal)) {
      this.saver.stop();
      this.leaveForGood();
      showNotice(this.root, refusal);
    }
  }

  private leaveForGood(): void {
    this.step?.leave();
    this.stopwatch.stop();
    this.dialogShown = null;
  }
}

function instructionsDialog(data: PageData): HTMLDialogElement {
  const dialog = h("dialog", { class: "sheet", "aria-label": "Instructions" });
  const close = button("Close", "button button-quiet button-small", () => dialog.close());
  dialog.append(h("div", { class: "sheet-head" }, h("h2", {}, "Instructions"), close), prose(data.instructions));
  return dialog;
}
