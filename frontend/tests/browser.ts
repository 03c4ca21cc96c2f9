// What these tests need of a browser: storage that lasts over a reload, and a server that answers as it is told to.
import { vi } from "vitest";

export interface Call {
  endpoint: string;
  body: Record<string, unknown>;
}

type Answer = { status?: number; body: unknown } | "unreachable";

export class Server {
  readonly calls: Call[] = [];
  private readonly answers: Answer[] = [];

  constructor() {
    const storage = new Map<string, string>();
    const localStorage = {
      getItem: (key: string) => storage.get(key) ?? null,
      setItem: (key: string, value: string) => {
        storage.set(key, value);
        Object.assign(localStorage, { [key]: value }); // as browsers do, which list their keys
      },
      removeItem: (key: string) => {
        storage.delete(key);
        delete (localStorage as Record<string, unknown>)[key];
      },
    };
    for (const name of Object.keys(localStorage)) {
      Object.defineProperty(localStorage, name, { enumerable: false });
    }
    vi.stubGlobal("localStorage", localStorage);
    vi.stubGlobal("window", Object.assign(new EventTarget(), { setTimeout, clearTimeout }));
    vi.stubGlobal("fetch", (url: string, { body }: { body: string }) => this.receive(url, body));
  }

  /** The next answers; after them, it saves whatever it gets. */
  willAnswer(...answers: Answer[]): void {
    this.answers.push(...answers);
  }

  private receive(url: string, text: string): Promise<Response> {
    const body = JSON.parse(text) as Record<string, unknown>;
    this.calls.push({ endpoint: url.split("/").at(-2) ?? "", body });
    const answer = this.answers.shift() ?? { body: { dialogs: saved(body) } };
    if (answer === "unreachable") {
      return Promise.reject(new TypeError("Failed to fetch"));
    }
    return Promise.resolve(Response.json(answer.body, { status: answer.status ?? 200 }));
  }
}

function saved(body: Record<string, unknown>): object[] {
  const dialogs = (body["dialogs"] ?? []) as { position: number; revision: number }[];
  return dialogs.map(({ position, revision }) => ({ position, revision: revision + 1, conflict: false }));
}
