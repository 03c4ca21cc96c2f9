import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { PageData } from "../src/generated/page";
import { areasProtocol } from "../src/worker/protocols/areas";
import type { Refusal } from "../src/worker/requests";
import { Saver } from "../src/worker/saving";
import type { Conflict } from "../src/worker/unsent";
import { Server } from "./browser";
import { areasOf, page, save } from "./page";

let server: Server;
let data: PageData;
let states: string[];
let conflicts: Conflict[];
let refusals: Refusal[];

beforeEach(() => {
  vi.useFakeTimers();
  server = new Server();
  [data, states, conflicts, refusals] = [page(), [], [], []];
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function open(): Saver {
  return new Saver(data, areasProtocol(data), {
    onState: (state) => states.push(state),
    onConflict: (found) => conflicts.push(...found),
    onRefusal: (refusal) => refusals.push(refusal),
    beforeSending: () => undefined,
  });
}

function put(position: number, areas: Record<string, string>): void {
  Object.assign(data.dialogs[position]?.answer ?? {}, { areas });
}

test("moves in quick succession are one save, with the protocol's fields beside the times", async () => {
  const saver = open();

  put(0, { 0: "good" });
  saver.dialogChanged(0);
  put(0, { 0: "good", 1: "bad" });
  saver.dialogChanged(0);
  await vi.advanceTimersByTimeAsync(1_000);

  const [call, ...more] = server.calls;
  expect(more).toEqual([]);
  expect(call?.body["dialogs"]).toEqual([save({ 0: "good", 1: "bad" }, { revision: 0 })]);
  expect([states.at(-1), data.dialogs[0]?.answer.revision]).toEqual(["saved", 1]);
});

test("while the server is out of reach the work is kept, and sent when it is back", async () => {
  server.willAnswer("unreachable", { status: 503, body: {} });
  const saver = open();
  put(0, { 0: "good" });
  saver.dialogChanged(0);

  await vi.advanceTimersByTimeAsync(500);
  const [whileDown, isUnsent] = [states.at(-1), saver.hasUnsent];
  await vi.advanceTimersByTimeAsync(60_000);

  expect([whileDown, isUnsent]).toEqual(["offline", true]);
  expect([states.at(-1), saver.hasUnsent]).toEqual(["saved", false]);
  expect(server.calls).toHaveLength(3);
});

test("a page that was closed offline finds its work again", async () => {
  server.willAnswer("unreachable");
  const saver = open();
  put(0, { 0: "good" });
  saver.dialogChanged(0);
  await vi.advanceTimersByTimeAsync(500);
  saver.stop();

  data = page();
  open().resume();
  await vi.advanceTimersByTimeAsync(500);

  expect(areasOf(data.dialogs[0]?.answer)).toEqual({ 0: "good" });
  expect(server.calls.at(-1)?.body["dialogs"]).toEqual([save({ 0: "good" }, { revision: 0 })]);
});

test("what another tab has moved is shown with what was moved here, and both are saved", async () => {
  const theirs = { ...save({ 1: "bad" }, { revision: 4 }), conflict: true };
  server.willAnswer({ body: { dialogs: [theirs] } });
  const saver = open();

  put(0, { 0: "good" });
  saver.dialogChanged(0);
  await vi.advanceTimersByTimeAsync(2_000);

  expect(conflicts).toEqual([{ position: 0, clashes: [] }]);
  expect(server.calls.at(-1)?.body["dialogs"]).toEqual([save({ 0: "good", 1: "bad" }, { revision: 4 })]);
});

test("nothing is sent before the worker has agreed", async () => {
  data.has_agreed = false;
  const saver = open();

  saver.dialogChanged(0);
  await vi.advanceTimersByTimeAsync(1_000);
  const before = server.calls.length;
  saver.agree();
  await saver.flush();

  expect(before).toBe(0);
  expect(server.calls[0]?.body["consent"]).toBe("1");
});

test("a check is sent after what was saved before it, and its word is kept with the dialog", async () => {
  const bonus = { attempts: 1, attempts_left: null, checked: { areas: {} }, passed: true, is_lost: false };
  server.willAnswer({ body: { dialogs: [{ position: 0, revision: 1, conflict: false }] } }, { body: { bonus, revision: 2 } });
  const saver = open();
  saver.dialogChanged(0);

  await saver.check(0, () => undefined);

  expect(server.calls.map((call) => call.endpoint)).toEqual(["save", "check"]);
  expect(server.calls[1]?.body["attempt"]).toBe(1);
  expect([data.dialogs[0]?.bonus, data.dialogs[0]?.answer.revision]).toEqual([bonus, 2]);
});

test("a refusal is told, and what can never be taken is not tried again", async () => {
  server.willAnswer({ status: 400, body: { code: "invalid", message: "No.", heading: "" } });
  const saver = open();

  saver.dialogChanged(0);
  await vi.advanceTimersByTimeAsync(60_000);

  expect(refusals.map((one) => one.code)).toEqual(["invalid"]);
  expect(server.calls).toHaveLength(1);
  expect(states.at(-1)).toBe("failed");
});
