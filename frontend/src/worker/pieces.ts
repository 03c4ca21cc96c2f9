// What the board and the preview's picture of it are made of.
import type { Area } from "./data";
import { h, quoted } from "./dom";

/** In place of an area's key. */
export const UNSORTED = "";

/** Where cards can be: an area, or the tray in which they begin. */
export interface Zone {
  area: string;
  label: string;
  element: HTMLElement;
  cards: HTMLElement;
}

export function cardContent(text: string, place: number): HTMLElement[] {
  const number = h("span", { class: "card-number" }, h("span", { class: "visually-hidden" }, "Reply "), String(place + 1));
  return [number, quoted("span", "card-text", text)];
}

/** With the key that puts a card there. */
export function areaButton(label: string, digit: number): HTMLButtonElement {
  return h("button", { class: "zone-label", type: "button" }, h("span", {}, label), h("kbd", {}, String(digit)));
}

export function makeTray(undo: HTMLElement): Zone {
  const label = "Replies to sort";
  const heading = h("div", { class: "tray-head" }, h("h2", { class: "zone-label" }, label), undo);
  return makeZone({ key: UNSORTED, label }, "zone tray", heading);
}

export function makeArea(area: Area, digit: number): Zone {
  return makeZone(area, "zone area", h("h2", {}, areaButton(area.label, digit)));
}

function makeZone({ key, label }: Area, className: string, heading: HTMLElement): Zone {
  const cards = h("div", { class: "zone-cards" });
  const element = h("section", { class: className, "aria-label": label, "data-zone": key }, heading, cards);
  return { area: key, label, element, cards };
}

export function keyHint(areaCount: number): HTMLElement {
  const digits = Array.from({ length: Math.min(areaCount, 9) }, (_, index) => [h("kbd", {}, String(index + 1)), " "]).flat();
  const keys = h("span", { class: "hint-keys" }, "On a reply: ", ...digits, "or arrow keys move it, ");
  keys.append(h("kbd", {}, "N"), " goes to the next one, ", h("kbd", {}, "Ctrl+Z"), " undoes.");
  return h("p", { class: "hint" }, "Drag a reply into an area, or choose a reply and then its area. ", keys);
}

/** By the key's place as well: on French keyboards the digits need shift. */
export function digitOf(event: KeyboardEvent): number | null {
  const found = /^(\d)$/.exec(event.key) ?? /^Digit(\d)$/.exec(event.code);
  return found === null ? null : Number(found[1]);
}
