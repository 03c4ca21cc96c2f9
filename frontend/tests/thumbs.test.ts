// CONTRIBUTING.md's protocol on the page's side: what the shell asks of it, without knowing how people are asked.
import { expect, test } from "vitest";
import { merge } from "../src/worker/merging";
import { page } from "./page";
import { thumbsProtocol } from "./thumbs";

const protocol = thumbsProtocol({ ...page(), thumbs: ["thumb up", "thumb down"] } as ReturnType<typeof page>);

function saved(thumbs: Record<string, string>, revision = 1) {
  return { position: 0, problem: "", revision, active_ms: 0, hidden_ms: 0, moves: [], thumbs };
}

test("the guide's protocol says what is missing, and what the warm-up praises", () => {
  const reply = { text: "Oh no!", praise: "", hint: "", thumbs: ["up"] };

  expect(protocol.missing(protocol.empty(), 2)).toBe(2);
  expect(protocol.missingWords(1)).toBe("1 reply still has no thumb.");
  expect(protocol.fits(reply, { thumbs: { 0: "up" } }, 0)).toBe(true);
  expect(protocol.fits(reply, protocol.empty(), 0)).toBe(null);
});

test("the shell merges two tabs' answers of any protocol whose answers are choices", () => {
  const merged = merge(protocol, [saved({})], saved({ 0: "up", 1: "up" }), saved({ 1: "down" }, 2));

  expect(merged.answer).toMatchObject({ thumbs: { 0: "up", 1: "down" }, revision: 2 });
  expect(merged.clashes).toEqual([1]);
});
