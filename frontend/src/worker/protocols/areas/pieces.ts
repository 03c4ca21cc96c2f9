// Make the parts of the board: cards, areas and their shapes, the tray, and hints about keys.
import { count, h, quoted } from "../../dom";
import { letterOf } from "../../letters";

export interface Area {
  key: string;
  label: string;
}

/** Maps a card's place to its area. */
export type Placements = Record<string, string>;

/** Stands for "no area yet". */
export const UNSORTED = "";

/** Shapes of areas, beside their colours and words. They repeat after the last. */
const SHAPES = ["●", "■", "▲", "◆", "★", "✚"];

/** Where cards can be: an area, or the tray in which they begin. */
export interface Zone {
  area: string;
  label: string;
  element: HTMLElement;
  cards: HTMLElement;
  count: HTMLElement;
}

/**
 * A native radio group that says which reply it is, where it is, and its text. Only the script gives it the focus; the tab
 * key goes to its radio buttons.
 */
export function makeCard(text: string, place: number, areas: Area[]): HTMLElement {
  const id = `card-${place}`;
  const letter = h("span", { class: "card-letter", id }, h("span", { class: "visually-hidden" }, "Reply "), letterOf(place));
  const where = h("span", { class: "visually-hidden", id: `${id}-place`, "data-place": true });
  const words = quoted("span", "card-text", text);
  words.id = `${id}-text`;
  const names = { role: "radiogroup", "aria-labelledby": `${id} ${where.id} ${words.id}` };
  const choices = areas.map((area, index) => makeChoice(area, index, id));
  return h(
    "div",
    { class: "card", tabindex: -1, "data-card": place, ...names },
    letter,
    where,
    words,
    h("div", { class: "choices" }, ...choices),
  );
}

function makeChoice({ key, label }: Area, index: number, name: string): HTMLElement {
  const shortcut = digitFor(index);
  const radio = h("input", { type: "radio", name, value: key, "aria-keyshortcuts": shortcut });
  const face = h("span", { class: "choice-face" }, mark(index), h("span", { class: "choice-label" }, label), keyOf(index));
  return h("label", { class: `choice ${hue(index)}` }, radio, face);
}

export function makeTray(): Zone {
  return makeZone({ key: UNSORTED, label: "Replies to sort" }, "zone tray", []);
}

export function makeArea(area: Area, index: number): Zone {
  return makeZone(area, `zone area ${hue(index)}`, [mark(index)]);
}

/** The number of replies in an area is beside its name, not part of it. */
function makeZone({ key, label }: Area, className: string, marks: HTMLElement[]): Zone {
  const cards = h("div", { class: "zone-cards" });
  const number = h("span", { class: "zone-count" }, ...countedReplies(0));
  const head = h("div", { class: "zone-head" }, ...marks, h("h2", { class: "zone-label" }, label), number);
  const element = h("section", { class: className, "aria-label": label, "data-zone": key }, head, cards);
  return { area: key, label, element, cards, count: number };
}

/** Names and counts of the areas at the lower edge of a narrow screen, where the areas themselves may be out of sight. */
export function makeBarTarget({ key, label }: Area, index: number, onPress: () => void): HTMLButtonElement {
  return h(
    "button",
    { type: "button", class: `bar-target ${hue(index)}`, value: key, onclick: onPress },
    mark(index),
    h("span", { class: "bar-label" }, h("span", { class: "visually-hidden" }, "Go to "), label),
    h("span", { class: "bar-count", "aria-hidden": "true" }),
  );
}

export function countedReplies(number: number): (HTMLElement | string)[] {
  const [digits = "", word = ""] = count(number, "reply", "replies").split(" ");
  return [digits, h("span", { class: "visually-hidden" }, ` ${word}`)];
}

/** Explains the keys, once, in the warm-up; the digits are on the buttons all the time. */
export function keyHint(areas: Area[]): HTMLElement {
  const digits = areas.slice(0, 9).flatMap((_, index) => [keyOf(index), " "]);
  const keys = h("span", { class: "hint-keys" }, "By keys: ", h("kbd", {}, "Enter"), " goes to the next reply without a place, ");
  keys.append(...digits, "put it into an area and go on, ", h("kbd", {}, "Ctrl+Z"), " takes the last move back. ");
  keys.append("When every reply has a place, ", h("kbd", {}, "Enter"), " goes on; in this warm-up it validates first.");
  const words = "Press a button on a reply, or drag the reply into an area. A placed reply folds to two lines; press it to read it all. ";
  return h("p", { class: "hint" }, words, keys);
}

function digitFor(index: number): string | null {
  return index < 9 ? String(index + 1) : null;
}

/** Shows a key. Screen readers get it from aria-keyshortcuts. */
function keyOf(index: number): HTMLElement | string {
  const digit = digitFor(index);
  return digit === null ? "" : h("kbd", { "aria-hidden": "true" }, digit);
}

function mark(index: number): HTMLElement {
  return h("span", { class: "mark", "aria-hidden": "true" }, SHAPES[index % SHAPES.length] ?? "");
}

function hue(index: number): string {
  return `hue-${index % 4}`;
}
