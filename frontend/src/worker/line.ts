// Send requests to our server one at a time, try each until it is answered, and tell the worker what we wait for.
import { type Endpoint, post, Unreachable } from "./requests";

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;
const SLOW_MS = 3_000;

const DOWN = "No connection. Your work is kept, and this goes on by itself when the connection is back.";
const SLOW = "The server has not answered yet; still waiting. Your work is kept.";

/** Is called with words that say what we wait for. */
export type OnWaiting = (why: string) => void;

export class Line {
  private readonly waiters = new Set<() => void>();
  private queue: Promise<unknown> = Promise.resolve();
  private wakeUp: () => void = () => undefined;
  private isDown = false;

  constructor(
    private readonly token: string,
    private readonly onDown: () => void,
  ) {
    window.addEventListener("online", () => this.wakeUp());
  }

  enqueue<T>(task: () => Promise<T>): Promise<T> {
    const result = this.queue.then(task);
    this.queue = result.catch(() => undefined);
    return result;
  }

  /** Says what we wait for, also while an earlier task hangs or is tried again, since this one comes after it. */
  async enqueueAloud<T>(onWaiting: OnWaiting, task: () => Promise<T>): Promise<T> {
    const say = (): void => onWaiting(this.isDown ? DOWN : SLOW);
    const timer = window.setTimeout(say, SLOW_MS);
    this.waiters.add(say);
    if (this.isDown) {
      say();
    }
    try {
      return await this.enqueue(task);
    } finally {
      window.clearTimeout(timer);
      this.waiters.delete(say);
    }
  }

  /** Repeats a request until it is answered. If the server has done it the first time, it just says so. */
  async insist<T>(endpoint: Endpoint, body: object): Promise<T> {
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
      try {
        return await this.once<T>(endpoint, body);
      } catch (error) {
        if (!(error instanceof Unreachable)) {
          throw error;
        }
        this.onDown();
        this.waiters.forEach((say) => say());
        await this.sleep(Math.max(waitMs * (0.75 + Math.random() / 2), error.retryAfterMs));
      }
    }
  }

  async once<T>(endpoint: Endpoint, body: object): Promise<T> {
    try {
      const answer = await post<T>(endpoint, this.token, body);
      this.isDown = false;
      return answer;
    } catch (error) {
      this.isDown = error instanceof Unreachable;
      throw error;
    }
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
}
