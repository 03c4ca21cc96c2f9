// Let the browser's Back lead to the step before, and never out of the study.
//
// Each step that is gone to is an entry of the browser's history. Below the first one lies another entry of this page:
// who goes back to it has come to the beginning, or to where they went on after a break, and stays.
// In a marketplace's frame nothing of this happens: there, Back belongs to the page around the frame.

interface Entry {
  step: string;
  /** The step of the entry below, if this page has put that one there. */
  below: string;
}

export interface TrailActions {
  /** Shows a step; "" is the one before the step that is shown. Returns whether there is such a step. */
  show(step: string): boolean;
  stayAtBeginning(): void;
}

export class Trail {
  private readonly isOn = window.top === window;
  private isReturning = false;

  constructor(private readonly actions: TrailActions) {}

  begin(step: string): void {
    if (!this.isOn) {
      return;
    }
    if (current() === null) {
      window.history.replaceState({ isBelowFirst: true }, "");
      window.history.pushState({ step, below: "" } satisfies Entry, "");
    } else {
      this.replace(step); // the page was reloaded
    }
    window.addEventListener("popstate", this.moved);
  }

  /** Call this before another step is shown, unless the browser itself went to it. */
  goTo(step: string): void {
    const here = current();
    if (this.isOn && here !== null && here.step !== step) {
      window.history.pushState({ step, below: here.step } satisfies Entry, "");
    }
  }

  /** Goes to the step before as the page's own button does; the browser's Back then means the one before that. */
  goBackTo(step: string): void {
    const here = current();
    if (this.isOn && here !== null && here.below === step) {
      window.history.back();
      return;
    }
    this.replace(step);
    this.actions.show(step);
  }

  end(): void {
    window.removeEventListener("popstate", this.moved);
  }

  private replace(step: string): void {
    if (this.isOn) {
      window.history.replaceState({ step, below: "" } satisfies Entry, "");
    }
  }

  private readonly moved = (): void => {
    if (this.isReturning) {
      this.isReturning = false;
      return;
    }
    const here = current();
    if (here !== null) {
      this.actions.show(here.step);
      return;
    }
    // Forward again, to the entry that this page began with. It then stands for the step before.
    this.isReturning = true;
    window.history.forward();
    if (!this.actions.show("")) {
      this.actions.stayAtBeginning();
    }
  };
}

function current(): Entry | null {
  const state: unknown = window.history.state;
  return typeof state === "object" && state !== null && "step" in state ? (state as Entry) : null;
}
