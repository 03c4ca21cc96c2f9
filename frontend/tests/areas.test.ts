import { expect, test } from "vitest";
import { merge } from "../src/worker/merging";
import { areasProtocol } from "../src/worker/protocols/areas";
import { protocolOf } from "../src/worker/protocols/registry";
import { areasOf, page, save } from "./page";

const protocol = areasProtocol(page());

test("an answer is complete when every reply has a place", () => {
  expect(protocol.missing({ areas: { 0: "good", 2: "bad" } }, 3)).toBe(1);
  expect(protocol.missing({ areas: { 0: "good", 1: "good", 2: "bad" } }, 3)).toBe(0);
  expect(protocol.missingWords(1)).toBe("1 reply still has no place.");
  expect(protocol.missingWords(0)).toBe("");
});

test("two answers are the same when every reply stands in the same place", () => {
  expect(protocol.isSame({ areas: { 0: "good" } }, { areas: { 0: "good" } })).toBe(true);
  expect(protocol.isSame({ areas: { 0: "good" } }, { areas: { 0: "bad" } })).toBe(false);
  expect(protocol.isSame({ areas: { 0: "good" } }, { areas: { 0: "good", 1: "bad" } })).toBe(false);
});

test("a reply of the warm-up fits, does not fit, or has no place yet", () => {
  const reply = { text: "Oh no!", praise: "", hint: "", areas: ["good"] };

  expect(protocol.fits(reply, { areas: { 1: "good" } }, 1)).toBe(true);
  expect(protocol.fits(reply, { areas: { 1: "bad" } }, 1)).toBe(false);
  expect(protocol.fits(reply, protocol.empty(), 1)).toBe(null);
});

test("what two tabs moved is kept of both, and the server's is the newest where both moved the same reply", () => {
  const merged = merge(
    protocol,
    [save({ 0: "good" })],
    save({ 0: "good", 1: "bad", 2: "bad" }, { active_ms: 900 }),
    save({ 0: "good", 1: "good" }, { revision: 7, active_ms: 500 }),
  );

  expect(areasOf(merged.answer)).toEqual({ 0: "good", 1: "good", 2: "bad" });
  expect(merged.clashes).toEqual([1]);
  expect([merged.isNews, merged.isTheirNews]).toEqual([true, true]);
  expect([merged.answer.revision, merged.answer.active_ms]).toEqual([7, 1400]);
});

test("what this page sent itself, and never heard of, is nobody else's news", () => {
  const sent = save({ 0: "bad" });

  const merged = merge(protocol, [save({}), sent], sent, save({ 0: "bad" }, { revision: 2 }));

  expect([merged.isNews, merged.isTheirNews, merged.clashes]).toEqual([false, false, []]);
});

test("nothing that was typed in either tab is thrown away", () => {
  const merged = merge(protocol, [save({})], save({}, { problem: "cut off" }), save({}, { problem: "rude" }));

  expect(merged.problem).toBe("rude\ncut off");
});

test("a protocol that the page does not know stops it, so that it says what to do", () => {
  expect(() => protocolOf("songs", page())).toThrow("songs");
});
