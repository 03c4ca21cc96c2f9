// What a worker does on a board, by pointer and by keys, and what it means. Dragging has a file of its own.
import { digitOf } from "./pieces";

/** A press that soon and that near is a double click: not for the card that has come to where the first one was. */
const DOUBLE_CLICK_MS = 400;
const DOUBLE_CLICK_PIXELS = 10;
/** They have an Enter of their own. */
const HAS_ENTER = "button, a, textarea, summary, select, dialog";

export interface Intents {
  /** The tray's is 0. */
  areaOfDigit(digit: number): string | undefined;
  choose(place: number, area: string): void;
  undo(): void;
  goOn(): void;
}

export class BoardInput {
  /** The last thing that was done, was done by mouse, pen or finger. */
  isByPointer = false;
  private pressed = { x: 0, y: 0, at: -Infinity, isDouble: false };
  private isDropped = false;

  constructor(
    board: HTMLElement,
    private readonly intents: Intents,
    signal: AbortSignal,
  ) {
    board.addEventListener("click", (event) => this.clicked(event), { signal });
    board.addEventListener("change", (event) => this.changed(event), { signal });
    board.addEventListener("keydown", (event) => this.keyPressed(event), { signal });
    // A press gives nothing the focus: a folded card would unfold below it, and the click miss the button.
    board.addEventListener("mousedown", (event) => cardOf(event) !== null && event.preventDefault(), { signal });
    document.addEventListener("pointerdown", (event) => this.pointerPressed(event), { signal, capture: true });
    document.addEventListener("keydown", () => (this.isByPointer = false), { signal, capture: true });
    document.addEventListener("keydown", (event) => this.keyPressedAnywhere(event), { signal });
  }

  /** A drag has ended: the click that some browsers send then, before the next press, is none. */
  dropped(): void {
    this.isDropped = true;
  }

  private pointerPressed({ clientX: x, clientY: y }: PointerEvent): void {
    const at = performance.now();
    const isNear = Math.hypot(x - this.pressed.x, y - this.pressed.y) < DOUBLE_CLICK_PIXELS;
    this.isByPointer = true;
    this.isDropped = false;
    this.pressed = { x, y, at, isDouble: isNear && at - this.pressed.at < DOUBLE_CLICK_MS };
  }

  /** On a card's button, or on the card: then it is opened to be read in full, and takes keys. */
  private clicked(event: Event): void {
    const card = cardOf(event);
    if (card === null) {
      return;
    }
    if (isIn(event, "label")) {
      if (this.isByPointer && this.pressed.isDouble) {
        event.preventDefault();
      }
    } else if (!this.isDropped) {
      if (document.activeElement === card) {
        card.blur();
      } else {
        card.focus({ preventScroll: true });
      }
    }
  }

  private changed(event: Event): void {
    const card = cardOf(event);
    if (card !== null && event.target instanceof HTMLInputElement) {
      this.intents.choose(placeOf(card), event.target.value);
    }
  }

  private keyPressed(event: KeyboardEvent): void {
    const card = cardOf(event);
    if (card === null || !isPlain(event)) {
      return;
    }
    const isRemoval = event.key === "Backspace" || event.key === "Delete";
    const area = this.intents.areaOfDigit(isRemoval ? 0 : (digitOf(event) ?? -1));
    if (area !== undefined) {
      event.preventDefault();
      this.intents.choose(placeOf(card), area);
    } else if (event.key.startsWith("Arrow") && event.target instanceof HTMLInputElement) {
      event.preventDefault();
      stepAside(card, event.target, event.key);
    }
  }

  private keyPressedAnywhere(event: KeyboardEvent): void {
    if (event.defaultPrevented || document.querySelector("dialog[open]") !== null) {
      return;
    }
    const isUndo = (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key.toLowerCase() === "z";
    if (isUndo && !isIn(event, "textarea")) {
      event.preventDefault();
      this.intents.undo();
    } else if (event.key === "Enter" && isPlain(event) && !event.repeat && !isIn(event, HAS_ENTER)) {
      event.preventDefault();
      this.intents.goOn();
    }
  }
}

/** From a radio button to its neighbour, without choosing it as browsers do: arrows never rate. */
function stepAside(card: HTMLElement, from: HTMLInputElement, key: string): void {
  const radios = [...card.querySelectorAll("input")];
  const step = key === "ArrowLeft" || key === "ArrowUp" ? -1 : 1;
  radios[(radios.indexOf(from) + step + radios.length) % radios.length]?.focus();
}

function cardOf(event: Event): HTMLElement | null {
  return event.target instanceof Element ? event.target.closest<HTMLElement>("[data-card]") : null;
}

function placeOf(card: HTMLElement): number {
  return Number(card.dataset["card"]);
}

function isIn(event: Event, selector: string): boolean {
  return event.target instanceof Element && event.target.closest(selector) !== null;
}

function isPlain(event: KeyboardEvent): boolean {
  return !event.ctrlKey && !event.metaKey && !event.altKey;
}

export function blur(): void {
  if (document.activeElement instanceof HTMLElement) {
    document.activeElement.blur();
  }
}
