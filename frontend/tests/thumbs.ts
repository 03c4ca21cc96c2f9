// A protocol of the smallest kind, as CONTRIBUTING.md adds it: each reply gets a thumb up or down, by a pair of radio buttons.
import type { PageData, WarmUpReply } from "../src/generated/page";
import { count, h, quoted, say } from "../src/worker/dom";
import { areSame, choiceOf, type Choices, mergeChoices } from "../src/worker/protocols/choices";
import type { Fields, Protocol, Task, TaskOptions } from "../src/worker/protocols/contract";

const VALUES = ["up", "down"];

export function thumbsProtocol(data: PageData): Protocol {
  const { thumbs: labels } = data as PageData & { thumbs: string[] };
  return {
    words: {
      work: "each reply gets a thumb",
      notYet: "No thumb yet.",
      allDone: "All have a thumb",
      changeAny: "Change any thumb",
      allTheSame: "Please give each reply a thumb all the same.",
      ready: "All done: see whether the point would be yours.",
      changed: "Changed since the check: the thumbs that you submit count.",
      tryAgain: "Not yet. You may change thumbs and validate again.",
      noMore: "Not like this. The thumbs that you submit still count.",
      changedElsewhere: "Thumbs were given in another tab, too: what was done in both is shown.",
      clashed: "Changed in another tab, too",
    },
    missing: (fields, replies) => replies - Object.keys(thumbsOf(fields)).length,
    missingWords: (missing) => (missing === 0 ? "" : `${count(missing, "reply still has", "replies still have")} no thumb.`),
    unfinishedWords: (missing) => `${count(missing, "reply", "replies")} without a thumb`,
    isSame: (one, other) => areSame(thumbsOf(one), thumbsOf(other)),
    merge: (known, mine, theirs) => {
      const merged = mergeChoices(known.map(thumbsOf), thumbsOf(mine), thumbsOf(theirs));
      return { fields: { thumbs: merged.choices }, isTheirNews: merged.isTheirNews, clashes: merged.clashes.map(Number) };
    },
    makeTask: (options) => new Thumbs(options, labels),
    empty: () => ({ thumbs: {} }),
    fits: (reply, fields, place) => {
      const thumb = thumbsOf(fields)[place];
      return thumb === undefined ? null : (reply as WarmUpReply & { thumbs: string[] }).thumbs.includes(thumb);
    },
    howTo: () => h("p", {}, "Choose a thumb for each reply; Tab goes to the next one."),
    picture: (texts) => h("div", {}, ...texts.map((text) => quoted("p", "reply", text))),
  };
}

function thumbsOf(fields: Fields): Choices {
  return (fields as { thumbs: Choices }).thumbs;
}

/** The replies, each with its radio buttons. */
class Thumbs implements Task {
  readonly element = h("div", { class: "thumbs" });
  readonly noticePlace = this.element;
  private readonly left = h("p", { role: "status" });
  private readonly notes: HTMLElement[] = [];

  constructor(
    private readonly options: TaskOptions,
    private readonly labels: string[],
  ) {
    this.element.append(...options.texts.map((text, place) => this.makeReply(text, place)), this.left);
    this.refresh();
  }

  begin(describedBy: string): boolean {
    this.element.setAttribute("aria-describedby", describedBy);
    const open = this.radios().find(({ name }) => thumbsOf(this.options.fields())[name.slice(6)] === undefined);
    open?.focus();
    return open !== undefined;
  }

  refresh(): void {
    for (const radio of this.radios()) {
      radio.checked = thumbsOf(this.options.fields())[radio.name.slice(6)] === radio.value;
    }
  }

  note(place: number, words: string): void {
    say(this.notes[place]!, words);
  }

  sayWhatIsLeft(): void {
    const left = this.options.texts.length - Object.keys(thumbsOf(this.options.fields())).length;
    say(this.left, left === 0 ? this.options.whenDone() : `${count(left, "reply", "replies")} left.`);
  }

  showAll(): void {
    // Nothing is hidden: the replies stand below each other.
  }

  destroy(): void {
    // It listens to its own buttons only, and these may go on being shown.
  }

  private makeReply(text: string, place: number): HTMLElement {
    const note = h("p", { role: "status" });
    this.notes.push(note);
    const choose = (value: string) => (): void => {
      thumbsOf(this.options.fields())[place] = value;
      say(note, "");
      this.options.onMove(place, choiceOf(value));
    };
    const choices = VALUES.map((value, index) =>
      h("label", {}, h("input", { type: "radio", name: `thumb-${place}`, value, onchange: choose(value) }), this.labels[index]!),
    );
    return h("fieldset", {}, h("legend", {}, quoted("span", "reply", text)), ...choices, note);
  }

  private radios(): HTMLInputElement[] {
    return [...this.element.querySelectorAll("input")];
  }
}
