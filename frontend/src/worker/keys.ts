// Read keys as people mean them.

/** Elements for which Enter has its own meaning. */
export const HAS_ENTER = "button, a, textarea, summary, select, dialog";

/** Returns the digit of a key. It also looks at the key's position: on French keyboards, digits need shift. */
export function digitOf(event: KeyboardEvent): number | null {
  const found = /^(\d)$/.exec(event.key) ?? /^Digit(\d)$/.exec(event.code);
  return found === null ? null : Number(found[1]);
}

/** Returns whether the main input is a finger: then no key is named, and nothing is marked as if it were chosen. */
export function isByTouch(): boolean {
  return window.matchMedia("(pointer: coarse)").matches;
}

/** Returns "Next or Enter", or only the first where there is likely no keyboard. */
export function orEnter(button: string): string {
  return isByTouch() ? button : `${button} or Enter`;
}

/** Returns whether no key is held that makes it a command of the browser. */
export function isPlain(event: KeyboardEvent): boolean {
  return !event.ctrlKey && !event.metaKey && !event.altKey;
}
