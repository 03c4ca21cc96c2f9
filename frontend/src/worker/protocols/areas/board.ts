// Move cards on the board: what is said, what gets the focus, and what Undo takes back. Every move can be undone.
import { BoardInput, blur } from "./board_input";
import { button, count, h, say } from "../../dom";
import { letterOf } from "../../letters";
import { type Choice, choiceOf } from "../choices";
import type { Task } from "../contract";
import { type DropTarget, enableDragging } from "./dragging";
import {
  type Area,
  countedReplies,
  makeArea,
  makeBarTarget,
  makeCard,
  makeTray,
  type Placements,
  UNSORTED,
  type Zone,
} from "./pieces";

export interface BoardOptions {
  areas: Area[];
  texts: string[];
  /** Returns what the board reads and changes. It is a function, because a conflict replaces the placements. */
  placements(): Placements;
  onMove(place: number, choice: Choice): void;
  /** Is called at Enter if every reply has a place. */
  onDone(): void;
  /** Returns what to press then, in words. */
  whenDone(): string;
}

export class Board implements Task {
  readonly element: HTMLElement;
  /** The part that stays visible: what was moved and, on a narrow screen, the areas' names. */
  readonly noticePlace: HTMLElement;
  private readonly cards: HTMLElement[];
  private readonly zones: Zone[];
  private readonly areas = h("div", { class: "areas" });
  private readonly barTargets: HTMLButtonElement[];
  /** Says what was moved, also to screen readers; Undo is beside it. */
  private readonly said = h("p", { class: "moved-words", role: "status" });
  private readonly undoButton: HTMLButtonElement;
  private movedWords = "";
  private history: { place: number; from: string }[] = [];
  private readonly listening = new AbortController();
  private readonly input: BoardInput;

  constructor(private readonly options: BoardOptions) {
    this.undoButton = button("Undo", "button button-quiet button-small", () => this.undo());
    this.cards = options.texts.map((text, place) => makeCard(text, place, options.areas));
    const tray = makeTray();
    const areas = options.areas.map(makeArea);
    this.areas.append(...areas.map((area) => area.element));
    this.zones = [tray, ...areas];
    this.barTargets = options.areas.map((area, index) => makeBarTarget(area, index, () => this.show(area.key)));
    this.noticePlace = h(
      "div",
      { class: "board-foot" },
      h("div", { class: "moved" }, this.said, this.undoButton),
      h("div", { class: "bar", role: "group", "aria-label": "Areas" }, ...this.barTargets),
    );
    this.element = h(
      "div",
      { class: "board" },
      h("div", { class: "board-tray" }, tray.element),
      h("div", { class: "board-side" }, this.noticePlace, this.areas),
    );
    const intents = {
      areaOfDigit: (digit: number) => this.zones[digit]?.area,
      choose: (place: number, area: string) => this.choose(place, area),
      undo: () => this.undo(),
      goOn: () => this.goOn(),
    };
    this.input = new BoardInput(this.element, intents, this.listening.signal);
    this.startDragging();
    this.watchSight();
    this.refresh();
  }

  /** Shows the present placements. Moves of another tab can't be undone here. */
  refresh(): void {
    const isHere = (card: HTMLElement, area: string): boolean =>
      this.zones.some((zone) => zone.area === area && zone.cards.contains(card));
    const movedThere = new Set(this.cards.flatMap((card, place) => (isHere(card, this.areaOf(place)) ? [] : [place])));
    this.history = this.history.filter(({ place }) => !movedThere.has(place));
    this.cards.forEach((_, place) => this.settle(place));
    this.showCounts();
    if (movedThere.size > 0 && this.movedWords !== "") {
      this.sayWhatIsLeft();
    }
  }

  /** Says, after the last move, how many replies have no place, or what to press if all have one. */
  sayWhatIsLeft(): void {
    const left = this.unsortedCount;
    say(this.said, `${this.movedWords} ${left === 0 ? this.options.whenDone() : `${count(left, "reply", "replies")} left.`}`);
  }

  /** Shows words below a card's text until it is moved; empty words remove them. */
  note(place: number, words: string, isPraise: boolean): void {
    const card = this.cards[place];
    card?.querySelector(".card-note")?.remove();
    if (words !== "") {
      card?.append(h("span", { class: isPraise ? "card-note card-note-good" : "card-note", dir: "auto" }, words));
    }
  }

  private get unsortedCount(): number {
    return this.cards.filter((_, place) => this.areaOf(place) === UNSORTED).length;
  }

  /** Gives the first reply the focus when a dialog opens. To screen readers it says once what is above it. */
  begin(describedBy: string): boolean {
    const card = this.focusUnsorted(-1, true);
    if (card === null) {
      say(this.said, this.options.whenDone());
    }
    card?.setAttribute("aria-describedby", describedBy);
    card?.addEventListener("blur", () => card.removeAttribute("aria-describedby"), { once: true });
    return card !== null;
  }

  showAll(): void {
    // Nothing is hidden: all replies are on the board, and as_shown.css unfolds them.
  }

  destroy(): void {
    this.listening.abort();
  }

  // --- Moving ---

  /** Moves a card by its button or a key, then goes to the next reply without a place. */
  private choose(place: number, area: string): void {
    this.move(place, area);
    const after = area === UNSORTED ? place - 1 : place; // a card that was taken back comes next
    if (this.focusUnsorted(after, this.input.isByPointer) === null) {
      if (this.input.isByPointer) {
        blur();
      } else {
        this.cards[place]?.focus({ preventScroll: true });
      }
    }
    this.reveal(place);
  }

  /** Where an area scrolls, what was moved is in sight. The page itself stays where it is. */
  private reveal(place: number): void {
    const card = this.cards[place];
    for (let box = card?.parentElement ?? null; card && box && this.areas.contains(box); box = box.parentElement) {
      const [inner, outer] = [card.getBoundingClientRect(), box.getBoundingClientRect()];
      box.scrollTop += Math.min(0, inner.top - outer.top) + Math.max(0, Math.min(inner.bottom - outer.bottom, inner.top - outer.top));
    }
  }

  private move(place: number, area: string): void {
    const from = this.areaOf(place);
    if (area === from) {
      this.settle(place);
      say(this.said, `Reply ${letterOf(place)} is in ${this.labelOf(area)} already.`);
      return;
    }
    this.history.push({ place, from });
    this.place(place, area, `Reply ${letterOf(place)} moved to ${this.labelOf(area)}.`);
  }

  private undo(): void {
    const last = this.history.pop();
    if (last === undefined) {
      say(this.said, "There is nothing to undo.");
      return;
    }
    this.place(last.place, last.from, `Undone: reply ${letterOf(last.place)} is back in ${this.labelOf(last.from)}.`);
    this.cards[last.place]?.focus({ preventScroll: this.input.isByPointer });
    this.reveal(last.place);
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
    this.showCounts();
    this.options.onMove(place, choiceOf(area));
    this.movedWords = words;
    this.sayWhatIsLeft();
  }

  /** Puts a card where its placement says, and updates its words. */
  private settle(place: number): void {
    const card = this.cards[place];
    const area = this.areaOf(place);
    const zone = this.zones.find((one) => one.area === area);
    if (card === undefined || zone === undefined) {
      return;
    }
    const following = this.cards.slice(place + 1).find((other) => other.parentElement === zone.cards) ?? null;
    if (card.parentElement !== zone.cards || card.nextElementSibling !== following) {
      zone.cards.insertBefore(card, following);
    }
    for (const radio of card.querySelectorAll("input")) {
      radio.checked = radio.value === area;
    }
    const where = card.querySelector("[data-place]");
    if (where !== null) {
      where.textContent = area === UNSORTED ? "has no place yet:" : `is in ${zone.label}:`;
    }
  }

  private showCounts(): void {
    this.zones.forEach((zone, index) => {
      const cards = zone.cards.childElementCount;
      zone.element.toggleAttribute("data-empty", cards === 0);
      zone.count.replaceChildren(...countedReplies(cards));
      const inBar = this.barTargets[index - 1]?.querySelector(".bar-count");
      if (inBar) {
        inBar.textContent = String(cards);
      }
    });
    this.undoButton.hidden = this.history.length === 0;
  }

  private areaOf(place: number): string {
    return this.options.placements()[place] ?? UNSORTED;
  }

  private labelOf(area: string): string {
    return this.zones.find((zone) => zone.area === area)?.label ?? area;
  }

  /** Focuses the next reply without a place, and after the last one begins again with the first. */
  private focusUnsorted(after: number, preventScroll: boolean): HTMLElement | null {
    const places = [...this.cards.keys()];
    const ordered = [...places.slice(after + 1), ...places.slice(0, after + 1)];
    const found = this.cards[ordered.find((place) => this.areaOf(place) === UNSORTED) ?? -1] ?? null;
    found?.focus({ preventScroll });
    return found;
  }

  private show(area: string): void {
    this.zones.find((zone) => zone.area === area)?.element.scrollIntoView({ block: "nearest" });
  }

  /** Goes to the next reply without a place or, if there is none, to the next step. */
  private goOn(): void {
    const next = this.focusUnsorted(-1, false);
    if (next === null) {
      this.options.onDone();
    } else {
      say(this.said, `${count(this.unsortedCount, "reply", "replies")} left.`);
    }
  }

  /** On a narrow screen the areas' names stand at its lower edge, but not over the instructions above the board. */
  private watchSight(): void {
    const watch = new IntersectionObserver((seen) =>
      this.element.toggleAttribute("data-away", seen.every((one) => !one.isIntersecting)),
    );
    watch.observe(this.element);
    this.listening.signal.addEventListener("abort", () => watch.disconnect());
  }

  private startDragging(): void {
    const targets: DropTarget[] = [
      ...this.zones.map(({ element, area }) => ({ element, area, isFixed: false })),
      ...this.barTargets.map((element) => ({ element, area: element.value, isFixed: true })),
    ];
    const events = {
      onStart: () => {
        blur();
        this.element.toggleAttribute("data-dragging", true);
      },
      onOver: (over: DropTarget | null) => targets.forEach((one) => one.element.toggleAttribute("data-over", one === over)),
      onDrop: (place: number, target: DropTarget | null, hasMoved: boolean) => {
        this.element.removeAttribute("data-dragging");
        if (hasMoved) {
          this.input.dropped();
        }
        if (target !== null) {
          if (target.area !== this.areaOf(place)) {
            this.move(place, target.area);
          }
          this.reveal(place); // also where it was before: an area that scrolls may have shown only a part of it
        }
        blur(); // so that arrows scroll, and no key rates a card that was only read
      },
    };
    enableDragging(this.element, targets, events, this.listening.signal);
  }
}
