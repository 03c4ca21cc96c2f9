// Send one request to our server, and tell a refusal from a server that can't be reached in 20 seconds.
// A refusal is final; an unreachable server is asked again.
import type { ConflictingDialog } from "./data";

const PATIENCE_MS = 20_000;
const KEEPALIVE_LIMIT = 60_000;

const UNEXPLAINED = "Our server did not take this. What was saved is still there: please reload.";

interface RefusalAnswer {
  code: string;
  heading: string;
  message: string;
  can_open_again: boolean;
  own_page: string;
  dialog: ConflictingDialog;
}

export class Refusal extends Error {
  constructor(
    readonly code: string,
    message: string,
    /** The heading of a page that ends the work; "" if the work goes on. */
    readonly heading = "",
    readonly canOpenAgain = false,
    /** What the server has instead, if there is a conflict. */
    readonly dialog: ConflictingDialog | null = null,
    /** The page of an invited rater, if this is over for them; "" for all others. */
    readonly ownPage = "",
  ) {
    super(message);
  }
}

export class Unreachable extends Error {
  constructor(readonly retryAfterMs = 0) {
    super("No answer from the server.");
  }
}

export type Endpoint = "save" | "check" | "submit";

export async function post<T>(endpoint: Endpoint, token: string, content: object): Promise<T> {
  const body = JSON.stringify(content);
  const response = await reach(endpoint, token, body);
  if (response.status === 429 || response.status >= 500) {
    throw new Unreachable(Number(response.headers.get("Retry-After")) * 1000 || 0);
  }
  const answer: unknown = await response.json().catch(() => {
    throw new Unreachable();
  });
  if (!response.ok) {
    const { code, message, heading, can_open_again, dialog, own_page } = answer as Partial<RefusalAnswer>;
    throw new Refusal(code ?? "invalid", message ?? UNEXPLAINED, heading, can_open_again, dialog, own_page);
  }
  return answer as T;
}

async function reach(endpoint: Endpoint, token: string, body: string): Promise<Response> {
  try {
    return await fetch(`/work/api/${endpoint}/`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Authorization: `Assignment ${token}` },
      body,
      credentials: "omit",
      // The page may be closed right after the last move. Browsers allow this up to 64 KiB.
      keepalive: body.length < KEEPALIVE_LIMIT,
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
  } catch {
    throw new Unreachable();
  }
}
