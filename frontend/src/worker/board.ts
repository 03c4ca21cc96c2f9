// Cards and areas: moved by dragging, by keys, or by a click on a card and then on an area. Every move can be undone.
import type { Area, Placements } from "./data";
import { button, count, h, quoted } from "./dom";
import type { DropTarget } from "./dragging";
import { enableDraggingLater } from "./dragging_later";
import { cardContent, digitOf, keyHint, makeArea, makeTray, UNSORTED, type Zone } from "./pieces";

export interface BoardOptions {
  areas: Area[];
  texts: string[];
  /** The board reads and changes these. A function, since a conflict exchanges them. */
  placements(): Placements;
  announce(words: string): void;
  onMove(place: number, area: string): void;
}

export class Board {
  readonly element: HTMLElement;
  private readonly cards: HTMLElement[];
  private readonly zones: Zone[];
  private readonly bar: HTMLElement;
  private readonly undoButton: HTMLButtonElement;
  private readonly history: { place: number; from: string }[] = [];
  private readonly listening = new AbortController();
  private readonly endDragging: () => void;
  private selected: number | null = null;
  private droppedAt = 0;

  constructor(private readonly options: BoardOptions) {
    this.undoButton = button("Undo", "button button-quiet button-small", () => this.undo());
    this.cards = options.texts.map((text, place) => this.makeCard(text, place));
    const tray = makeTray(this.undoButton);
    const areas = options.areas.map((area, index) => makeArea(area, index + 1));
    this.zones = [tray, ...areas];
    this.zones.forEach(({ area, element }) => element.addEventListener("click", () => this.zoneClicked(area)));
    this.bar = this.makeBar();
    this.element = h(
      "div",
      { class: "board" },
      h("div", { class: "board-tray" }, tray.element, keyHint(options.areas.length)),
      h("div", { class: "areas" }, ...areas.map((area) => area.element)),
      this.bar,
    );
    document.addEventListener("keydown", (event) => this.undoByKey(event), { signal: this.listening.signal });
    this.endDragging = this.startDragging();
    this.refresh();
  }

  /** Shows the placements as they are now. */
  refresh(): void {
    this.select(null);
    this.history.length = 0;
    this.cards.forEach((_, place) => this.settle(place));
    this.showCounts();
  }

  /** Words below a card's text, until it is moved; none takes them away. */
  note(place: number, words: string, isPraise: boolean): void {
    const card = this.cards[place];
    card?.querySelector(".card-note")?.remove();
    if (words !== "") {
      card?.append(quoted("span", isPraise ? "card-note card-note-good" : "card-note", words));
    }
  }

  get unsortedCount(): number {
    return this.cards.filter((_, place) => this.areaOf(place) === UNSORTED).length;
  }

  focusFirstUnsorted(): void {
    this.cards.find((_, place) => this.areaOf(place) === UNSORTED)?.focus();
  }

  destroy(): void {
    this.listening.abort();
    this.endDragging();
  }

  // --- Moving ---

  private move(place: number, area: string): void {
    const from = this.areaOf(place);
    this.select(null);
    this.cards[place]?.focus({ preventScroll: true });
    if (area === from) {
      this.options.announce(`Reply ${place + 1} is in ${this.labelOf(area)} already.`);
      return;
    }
    this.history.push({ place, from });
    this.place(place, area, `Reply ${place + 1} moved to ${this.labelOf(area)}.`);
  }

  private undo(): void {
    const last = this.history.pop();
    if (last === undefined) {
      this.options.announce("There is nothing to undo.");
      return;
    }
    this.select(null);
    this.place(last.place, last.from, `Undone: reply ${last.place + 1} is back in ${this.labelOf(last.from)}.`);
  }

  private place(place: number, area: string, words: string): void {
    const placements = this.options.placements();
    if (area === UNSORTED) {
      delete placements[place];
    } else {
      placements[place] = area;
    }
    this.note(place, "", false);
    this.settle(place);
    this.cards[place]?.focus({ preventScroll: true });
    this.showCounts();
    this.options.onMove(place, area);
    const left = this.unsortedCount;
    this.options.announce(`${words} ${left === 0 ? "All replies have a place." : `${count(left, "reply", "replies")} left.`}`);
  }

  private settle(place: number): void {
    const card = this.cards[place];
    const box = this.zones.find((zone) => zone.area === this.areaOf(place))?.cards;
    if (card === undefined || box === undefined) {
      return;
    }
    const following = this.cards.slice(place + 1).find((other) => other.parentElement === box) ?? null;
    if (card.parentElement !== box || card.nextElementSibling !== following) {
      box.insertBefore(card, following);
    }
  }

  private showCounts(): void {
    for (const zone of this.zones) {
      zone.element.toggleAttribute("data-empty", zone.cards.childElementCount === 0);
    }
    this.undoButton.setAttribute("aria-disabled", String(this.history.length === 0));
  }

  private areaOf(place: number): string {
    return this.options.placements()[place] ?? UNSORTED;
  }

  private labelOf(area: string): string {
    return this.zones.find((zone) => zone.area === area)?.label ?? area;
  }

  // --- Click or tap: a card, then an area ---

  private select(place: number | null): void {
    this.selected = place;
    this.cards.forEach((card, index) => card.setAttribute("aria-pressed", String(index === place)));
    this.element.toggleAttribute("data-choosing", place !== null);
  }

  private cardClicked(place: number): void {
    if (this.isEndOfDrag()) {
      return;
    }
    const isSame = this.selected === place;
    this.select(isSame ? null : place);
    this.options.announce(isSame ? "No reply is chosen." : `Reply ${place + 1} is chosen. Now choose an area.`);
  }

  private zoneClicked(area: string): void {
    if (this.isEndOfDrag()) {
      return;
    }
    if (this.selected !== null) {
      this.move(this.selected, area);
    } else if (area !== UNSORTED) {
      this.options.announce("Choose a reply first.");
    }
  }

  /** Some browsers send a click after a drop. */
  private isEndOfDrag(): boolean {
    return performance.now() - this.droppedAt < 100;
  }

  // --- Keys ---

  private keyPressed(event: KeyboardEvent, place: number): void {
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
    if (isPlain && this.actByKey(event, place)) {
      event.preventDefault();
    }
  }

  private actByKey(event: KeyboardEvent, place: number): boolean {
    const zone = this.zones.findIndex((one) => one.area === this.areaOf(place));
    const digit = digitOf(event);
    if (digit !== null) {
      return this.moveToZone(place, digit);
    }
    switch (event.key) {
      case "ArrowRight":
      case "ArrowDown":
        return this.moveToZone(place, Math.min(zone + 1, this.zones.length - 1));
      case "ArrowLeft":
      case "ArrowUp":
        return this.moveToZone(place, Math.max(zone - 1, 0));
      case "Backspace":
      case "Delete":
        return this.moveToZone(place, 0);
      case "Enter":
      case " ":
        this.cardClicked(place);
        return true;
      case "Escape":
        this.select(null);
        return true;
      case "n":
      case "N":
        this.focusFirstUnsorted();
        return true;
      default:
        return false;
    }
  }

  private moveToZone(place: number, zone: number): boolean {
    const area = this.zones[zone]?.area;
    if (area === undefined) {
      return false;
    }
    this.move(place, area);
    this.cards[place]?.scrollIntoView({ block: "nearest" });
    return true;
  }

  private undoByKey(event: KeyboardEvent): void {
    const isUndo = (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key.toLowerCase() === "z";
    const isInText = event.target instanceof HTMLTextAreaElement;
    if (isUndo && !isInText) {
      event.preventDefault();
      this.undo();
    }
  }

  // --- Dragging ---

  private startDragging(): () => void {
    const targets: DropTarget[] = [
      ...this.zones.map(({ element, area }) => ({ element, area, isOverlay: false })),
      ...[...this.bar.querySelectorAll("button")].map((element) => ({ element, area: element.value, isOverlay: true })),
    ];
    return enableDraggingLater(this.cards, targets, {
      onStart: () => {
        this.select(null);
        this.element.setAttribute("data-dragging", "");
      },
      onOver: (over) => targets.forEach((target) => target.element.toggleAttribute("data-over", target === over)),
      onDrop: (place, target, hasMoved) => {
        this.element.removeAttribute("data-dragging");
        if (!hasMoved) {
          this.cardClicked(place);
          return;
        }
        this.droppedAt = performance.now();
        this.cards[place]?.focus({ preventScroll: true });
        if (target !== null && target.area !== this.areaOf(place)) {
          this.move(place, target.area);
        }
      },
    });
  }

  // --- Elements ---

  private makeCard(text: string, place: number): HTMLElement {
    const card = h(
      "div",
      { class: "card", role: "button", tabindex: 0, "aria-pressed": "false", "data-card": place },
      ...cardContent(text, place),
    );
    card.addEventListener("keydown", (event) => this.keyPressed(event, place));
    card.addEventListener("click", (event) => {
      event.stopPropagation();
      this.cardClicked(place);
    });
    return card;
  }

  /** On a narrow screen the areas may be out of sight: then this stands at its lower edge while a card is on its way. */
  private makeBar(): HTMLElement {
    const buttons = this.options.areas.map((area) =>
      h(
        "button",
        { type: "button", class: "bar-target", value: area.key, onclick: () => this.zoneClicked(area.key) },
        area.label,
      ),
    );
    return h("div", { class: "bar", role: "group", "aria-label": "Put the chosen reply into" }, ...buttons);
  }
}
