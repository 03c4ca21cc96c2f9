import { beforeEach, expect, test, vi } from "vitest";
import { areasProtocol } from "../src/worker/protocols/areas";
import { recover, type Unsent, UnsentStore } from "../src/worker/unsent";
import { Server } from "./browser";
import { areasOf, page, save } from "./page";

const TOKEN = "a token of more than sixteen letters";

function unsent(more: Partial<Unsent> = {}): Unsent {
  return { step: "dialog-1", feedback: null, hasAgreed: false, attempted: null, dialogs: [], acknowledged: [], ...more };
}

beforeEach(() => {
  new Server();
});

test("what a page could not send is there for the next one, once", () => {
  const found: Unsent[] = [];
  new UnsentStore(TOKEN).write(unsent({ feedback: "Nice." }));

  const next = new UnsentStore(TOKEN);
  next.takeOver((one) => found.push(one));
  next.takeOver((one) => found.push(one));

  expect(found.map((one) => one.feedback)).toEqual(["Nice."]);
});

test("another assignment's work stays where it is", () => {
  const found: Unsent[] = [];
  new UnsentStore("another token that is as long").write(unsent());

  new UnsentStore(TOKEN).takeOver((one) => found.push(one));

  expect(found).toEqual([]);
});

test("a browser that denies storage is no failure", () => {
  vi.stubGlobal("localStorage", {
    setItem: () => {
      throw new Error("denied");
    },
  });
  const store = new UnsentStore(TOKEN);

  store.write(unsent());

  expect(store.isKept).toBe(false);
});

test("unsent work comes back into the page, and is sent again", () => {
  const data = page();

  const { positions, conflicts } = recover(areasProtocol(data), data, unsent({ dialogs: [save({ 0: "good" }, { revision: 0 })] }));

  expect([positions, conflicts]).toEqual([[0], []]);
  expect(areasOf(data.dialogs[0]?.answer)).toEqual({ 0: "good" });
});

test("work that had arrived after all is not sent again", () => {
  const data = page();
  const sent = save({ 0: "good" }, { revision: 0 });
  Object.assign(data.dialogs[0]?.answer ?? {}, { revision: 1, areas: { 0: "good" } });

  const attempted = { step: "dialog-0", dialogs: [sent] };

  expect(recover(areasProtocol(data), data, unsent({ attempted })).positions).toEqual([]);
});
