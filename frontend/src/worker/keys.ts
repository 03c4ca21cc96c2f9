// Read keys as people mean them.

/** Returns the digit of a key. It also looks at the key's position: on French keyboards, digits need shift. */
export function digitOf(event: KeyboardEvent): number | null {
  const found = /^(\d)$/.exec(event.key) ?? /^Digit(\d)$/.exec(event.code);
  return found === null ? null : Number(found[1]);
}

/** Returns whether no key is held that makes it a command of the browser. */
export function isPlain(event: KeyboardEvent): boolean {
  return !event.ctrlKey && !event.metaKey && !event.altKey;
}
