import { expect, test } from "vitest";
import { merge } from "../src/worker/merging";
import { bestWorstProtocol } from "../src/worker/protocols/best_worst";
import { page } from "./page";

const protocol = bestWorstProtocol(page());

function saved(marked: Record<string, string>, revision = 1) {
  return { position: 0, problem: "", revision, active_ms: 0, hidden_ms: 0, moves: [], marked };
}

test("an answer is complete when both are marked, or when there is nothing to choose", () => {
  expect(protocol.missing({ marked: { best: "1" } }, 3)).toBe(3);
  expect(protocol.missing({ marked: { best: "1", worst: "0" } }, 3)).toBe(0);
  expect(protocol.missing(protocol.empty(), 1)).toBe(0);
});

test("a reply of the warm-up fits by its mark, or by having none once both are there", () => {
  const bland = { text: "Oh.", praise: "", hint: "", fitting: ["neither"] };

  expect(protocol.fits(bland, { marked: { best: "1", worst: "0" } }, 2)).toBe(true);
  expect(protocol.fits(bland, { marked: { best: "1", worst: "2" } }, 2)).toBe(false);
  expect(protocol.fits(bland, { marked: { best: "1" } }, 2)).toBe(null);
});

test("marks of two tabs are kept of both, but no reply becomes the best and the worst", () => {
  const apart = merge(protocol, [saved({})], saved({ best: "0" }), saved({ worst: "2" }, 2));
  const same = merge(protocol, [saved({})], saved({ best: "1" }), saved({ worst: "1" }, 2));

  expect(apart.answer).toMatchObject({ marked: { best: "0", worst: "2" } });
  expect(apart.clashes).toEqual([]);
  expect(same.answer).toMatchObject({ marked: { worst: "1" } });
  expect(same.answer).not.toMatchObject({ marked: { best: "1" } });
  expect(same.clashes).toEqual([1]);
});
