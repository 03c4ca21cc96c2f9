// Run the clock on the local marketplace's worker pages. Nothing else there needs a script.
import "./styles/localturk.css";

const URGENT_SECONDS = 60;
const DONE = "localturk: done";

for (const clock of document.querySelectorAll<HTMLElement>("[data-clock]")) {
  startClock(clock);
}

// The answer to externalSubmit, in the frame, tells the page around it that the clock may stop and nothing can be returned.
if (document.querySelector("[data-done]") !== null && window.parent !== window) {
  window.parent.postMessage(DONE, window.location.origin);
}

function startClock(clock: HTMLElement): void {
  const allowed = Number(clock.dataset["allowedSeconds"]);
  const usedAtLoad = Number(clock.dataset["usedSeconds"]);
  const loadedAt = Date.now();
  // Compute the time, don't count ticks: browsers slow down timers of hidden tabs, and laptops sleep.
  const secondsUsed = (): number => Math.min(allowed, usedAtLoad + (Date.now() - loadedAt) / 1000);
  let minuteSaid = Math.floor(usedAtLoad / 60);

  const show = (): void => {
    const used = Math.floor(secondsUsed());
    const left = allowed - used;
    const isOver = left <= 0;
    fill(clock, "used", clockText(used));
    fill(clock, "left", isOver ? "Time is over" : `${clockText(left)} left`);
    clock.toggleAttribute("data-urgent", left < URGENT_SECONDS);
    const minute = Math.floor(used / 60);
    // Screen readers announce it once a minute, and once at the end.
    if (minute !== minuteSaid || isOver) {
      minuteSaid = minute;
      fill(clock, "said", isOver ? "The time for this HIT is over." : `${minutes(minute)} used, ${minutes(Math.ceil(left / 60))} left.`);
    }
    if (isOver) {
      window.clearInterval(timer);
    }
  };

  const timer = window.setInterval(show, 1000);
  show();
  window.addEventListener("message", (event) => {
    if (event.origin === window.location.origin && event.data === DONE) {
      window.clearInterval(timer);
      clock.removeAttribute("data-urgent");
      fill(clock, "left", "Submitted");
      document.querySelector("[data-return]")?.remove(); // what is submitted can't be returned
    }
  });
}

function fill(clock: HTMLElement, name: string, text: string): void {
  const part = clock.querySelector(`[data-${name}]`);
  if (part !== null && part.textContent !== text) {
    part.textContent = text;
  }
}

/** Writes seconds as the server does: 65 is "01:05", 3725 is "1:02:05". */
function clockText(seconds: number): string {
  const hours = Math.floor(seconds / 3600);
  const rest = [Math.floor(seconds / 60) % 60, seconds % 60].map((part) => String(part).padStart(2, "0")).join(":");
  return hours > 0 ? `${hours}:${rest}` : rest;
}

function minutes(count: number): string {
  return count === 1 ? "1 minute" : `${count} minutes`;
}
