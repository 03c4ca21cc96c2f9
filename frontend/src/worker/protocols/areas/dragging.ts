// Drag cards by mouse, pen and finger. The board does the same by buttons and keys; this file has only what needs a pointer.

const MOUSE_PIXELS = 5;
const TOUCH_MS = 200;
const TOUCH_PIXELS = 8;
/** The page scrolls at the window's edges: within this share of its height, by so many pixels a frame at most. */
const EDGE_SHARE = 0.12;
const EDGE_PIXELS = 14;

export interface DropTarget {
  element: HTMLElement;
  area: string;
  /** Whether it stays at the window's edge, where the page would otherwise scroll. */
  isFixed: boolean;
}

export interface DragEvents {
  onStart(): void;
  onOver(target: DropTarget | null): void;
  /** `target` is null if the card was dropped outside of every target, or the drag was given up. A finger may rest without moving. */
  onDrop(place: number, target: DropTarget | null, hasMoved: boolean): void;
}

/** A press on a card, which may become a drag. */
interface Drag {
  card: HTMLElement;
  place: number;
  pointer: number;
  isTouch: boolean;
  startX: number;
  startY: number;
  x: number;
  y: number;
  timer: number;
  /** The element that moves with the pointer, once it is a drag. */
  carried: HTMLElement | null;
  over: DropTarget | null;
}

/** Makes the cards within `board` draggable, until `signal` ends it. */
export function enableDragging(board: HTMLElement, targets: DropTarget[], events: DragEvents, signal: AbortSignal): void {
  let drag: Drag | null = null;

  const press = (event: PointerEvent): void => {
    const target = event.target instanceof Element ? event.target : null;
    const card = target?.closest<HTMLElement>("[data-card]");
    const isTouch = event.pointerType === "touch";
    // Slow fingers rest on a button before they release it; they mean to press it.
    const isSlowPress = isTouch && target?.closest("label") !== null;
    if (drag !== null || !card || event.button !== 0 || isSlowPress) {
      return;
    }
    const { clientX: x, clientY: y, pointerId: pointer } = event;
    const place = Number(card.dataset["card"]);
    // A finger that moves at once scrolls the page; one that rests takes the card.
    const timer = isTouch ? window.setTimeout(() => start(), TOUCH_MS) : 0;
    drag = { card, place, pointer, isTouch, startX: x, startY: y, x, y, timer, carried: null, over: null };
  };

  const move = (event: PointerEvent): void => {
    if (drag?.pointer !== event.pointerId) {
      return;
    }
    drag.x = event.clientX;
    drag.y = event.clientY;
    if (drag.carried === null) {
      if (drag.isTouch && distanceOf(drag) > TOUCH_PIXELS) {
        finish(false);
      } else if (!drag.isTouch && distanceOf(drag) > MOUSE_PIXELS) {
        start();
      }
    }
    follow();
  };

  const start = (): void => {
    if (drag !== null) {
      drag.carried = carry(drag);
      board.append(drag.carried);
      drag.card.toggleAttribute("data-carried", true);
      drag.card.setPointerCapture(drag.pointer);
      events.onStart();
      follow();
      window.requestAnimationFrame(scrollAtEdge);
    }
  };

  const follow = (): void => {
    if (drag !== null && drag.carried !== null) {
      // A finger hides what is below it, so the card hangs above it.
      const y = drag.isTouch ? drag.y - drag.carried.offsetHeight - 24 : drag.y - 20;
      drag.carried.style.translate = `${drag.x - (drag.isTouch ? drag.carried.offsetWidth / 2 : 20)}px ${y}px`;
      const hit = document.elementFromPoint(drag.x, drag.y);
      drag.over = targets.find(({ element }) => element.contains(hit)) ?? null;
      events.onOver(drag.over);
    }
  };

  const scrollAtEdge = (): void => {
    if (drag !== null && drag.carried !== null) {
      const edge = window.innerHeight * EDGE_SHARE;
      const beyond = Math.max(0, drag.y - (window.innerHeight - edge)) - Math.max(0, edge - drag.y);
      if (beyond !== 0 && drag.over?.isFixed !== true) {
        window.scrollBy(0, (Math.max(-edge, Math.min(edge, beyond)) / edge) * EDGE_PIXELS);
        follow();
      }
      window.requestAnimationFrame(scrollAtEdge);
    }
  };

  const finish = (isDropped: boolean): void => {
    const ended = drag;
    drag = null;
    if (ended === null) {
      return;
    }
    window.clearTimeout(ended.timer);
    if (ended.carried !== null) {
      ended.carried.remove();
      ended.card.removeAttribute("data-carried");
      events.onOver(null);
      events.onDrop(ended.place, isDropped ? ended.over : null, distanceOf(ended) > MOUSE_PIXELS);
    }
  };

  const end = (event: PointerEvent): void => {
    if (drag?.pointer === event.pointerId) {
      finish(event.type === "pointerup");
    }
  };

  board.addEventListener("pointerdown", press, { signal });
  window.addEventListener("pointermove", move, { signal });
  window.addEventListener("pointerup", end, { signal });
  window.addEventListener("pointercancel", end, { signal });
  window.addEventListener("blur", () => finish(false), { signal });
  // Listen in the capture phase, so that Escape ends the drag before anything else gets it.
  const giveUp = (event: KeyboardEvent): void => {
    if (event.key === "Escape" && drag !== null) {
      event.stopPropagation();
      finish(false);
    }
  };
  window.addEventListener("keydown", giveUp, { signal, capture: true });
  // All browsers let a script stop scrolling only if the listener is not passive and was there before the finger.
  const holdStill = (event: Event): void => {
    if (drag?.carried && event.cancelable) {
      event.preventDefault();
    }
  };
  board.addEventListener("touchmove", holdStill, { signal, passive: false });
  // A finger that rests would open a menu on Android.
  board.addEventListener("contextmenu", (event) => drag?.isTouch === true && event.preventDefault(), { signal });
  signal.addEventListener("abort", () => finish(false));
}

function distanceOf({ x, y, startX, startY }: Drag): number {
  return Math.hypot(x - startX, y - startY);
}

/** Shows the card's letter and text. It is not a full copy: a second radio group of the same name would take its choice away. */
function carry({ card }: Drag): HTMLElement {
  const carried = document.createElement("div");
  carried.className = "card card-carried";
  carried.setAttribute("aria-hidden", "true");
  for (const part of card.querySelectorAll(".card-letter, .card-text")) {
    const copy = part.cloneNode(true) as HTMLElement;
    copy.removeAttribute("id");
    carried.append(copy);
  }
  return carried;
}
