// Handle pointer and keys on a board: which move a press or key means. dragging.ts handles dragging.
import { digitOf, HAS_ENTER, isPlain } from "../../keys";

/** A press so soon and so near is a double click. It is not meant for the card that has moved to where the first one was. */
const DOUBLE_CLICK_MS = 400;
const DOUBLE_CLICK_PIXELS = 10;

export interface Intents {
  /** Returns the area that a digit stands for; 0 is the tray. */
  areaOfDigit(digit: number): string | undefined;
  choose(place: number, area: string): void;
  undo(): void;
  goOn(): void;
}

export class BoardInput {
  /** Whether the last action was by mouse, pen or finger. */
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
    // A press must not move the focus: a folded card would unfold below it, and the click would miss the button.
    board.addEventListener("mousedown", (event) => cardOf(event) !== null && event.preventDefault(), { signal });
    document.addEventListener("pointerdown", (event) => this.pointerPressed(event), { signal, capture: true });
    document.addEventListener("keydown", () => (this.isByPointer = false), { signal, capture: true });
    document.addEventListener("keydown", (event) => this.keyPressedAnywhere(event), { signal });
  }

  /** Notes that a drag has ended, to ignore the click that some browsers then send. */
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

  /** Handles a click on a card's button, or on the card, which opens it to be read in full and gives it the keys. */
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

/** Moves the focus to the next radio button without choosing it, as browsers would: arrows never rate. */
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

export function blur(): void {
  if (document.activeElement instanceof HTMLElement) {
    document.activeElement.blur();
  }
}
