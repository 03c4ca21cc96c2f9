// What is noted of a move never makes the server refuse a save, whatever a protocol names its answers.
import { expect, test } from "vitest";
import { CHOICE_PATTERN } from "../src/generated/page";
import { choiceOf } from "../src/worker/protocols/choices";

test("words become a note that the server takes", () => {
  expect(choiceOf("good")).toBe("good");
  expect(choiceOf("")).toBe("");
  expect(choiceOf("7", "empathy")).toBe("7_empathy");
  expect(choiceOf("Empathy: 7")).toBe("empathy_7");
});

test.each(["-3", "can't say", "Ä good one", "very ".repeat(20), "\u0000", "🙂🙂", "İ"])("so do odd ones: %j", (words) => {
  expect(choiceOf(words)).toMatch(new RegExp(CHOICE_PATTERN));
  expect(choiceOf(words, words)).toMatch(new RegExp(CHOICE_PATTERN));
});
