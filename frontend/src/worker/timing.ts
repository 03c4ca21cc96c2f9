// Measure how long a worker looks at a dialog, and how long it is open in a hidden tab. The consent text names both.
import type { Answer } from "../generated/page";

export class Stopwatch {
  private answer: (() => Answer) | null = null;
  private since = 0;
  private wasVisible = true;

  constructor() {
    document.addEventListener("visibilitychange", () => this.lap());
  }

  /** Starts the clock. `answer` is a function, because a conflict replaces the answer. */
  start(answer: () => Answer): void {
    this.lap();
    this.answer = answer;
  }

  stop(): void {
    this.lap();
    this.answer = null;
  }

  /** Adds the time since the last lap to the answer. */
  lap(): void {
    const now = performance.now();
    const passed = Math.round(now - this.since);
    if (this.answer !== null) {
      this.answer()[this.wasVisible ? "active_ms" : "hidden_ms"] += passed;
    }
    this.since = now;
    this.wasVisible = document.visibilityState === "visible";
  }
}
