// Make the parts of a rated reply: its text, and for each criterion a row of points or a slider.
import { h, quoted } from "../../dom";
import { letterOf } from "../../letters";

/** A criterion, as hits/protocols/likert.py sends it. */
export interface Asked {
  name: string;
  label: string;
  question: string;
  lowest: number;
  highest: number;
  /** Words at some or all points. */
  words: Record<string, string>;
  is_slider: boolean;
  /** Whether the researcher lists it first: the order on the page differs between workers. */
  is_first: boolean;
}

/** Maps a criterion, and then a reply's place, to the rating. */
export type Ratings = Record<string, Record<string, string>>;

/** An answer that is no rating. */
export const CANT_SAY = "cant_say";

const MOST_WORDS_IN_A_ROW = 3;

/** The controls for one criterion of one reply. */
export interface ScaleControls {
  readonly asked: Asked;
  readonly place: number;
  readonly element: HTMLElement;
  /** Shows an answer, or that there is none. */
  show(rating: string | undefined): void;
  focus(preventScroll: boolean): void;
}

export interface RatedReply {
  readonly element: HTMLElement;
  readonly note: HTMLElement;
  readonly scales: ScaleControls[];
}

export function makeRatedReply(text: string, place: number, criteria: Asked[], maySkip: boolean, hasQuestions: boolean): RatedReply {
  const id = `reply-${place}`;
  const letter = h("h3", { class: "rated-letter", id }, h("span", { class: "visually-hidden" }, "Reply "), letterOf(place));
  const words = quoted("div", "rated-text", text);
  words.id = `${id}-text`;
  const note = h("p", { class: "card-note", role: "status", hidden: true, dir: "auto" });
  const scales = criteria.map((asked) => makeScale(asked, place, id, maySkip, hasQuestions || criteria.length === 1, criteria.length === 1));
  const element = h(
    "article",
    { class: "rated-reply", "data-reply": place, tabindex: -1, "aria-labelledby": `${id} ${words.id}` },
    h("div", { class: "rated-head" }, letter, words),
    ...scales.map((one) => one.element),
    note,
  );
  return { element, note, scales };
}

function makeScale(
  asked: Asked,
  place: number,
  reply: string,
  maySkip: boolean,
  hasQuestion: boolean,
  isAlone: boolean,
): ScaleControls {
  const legend = h("legend", { class: "scale-legend", id: `${reply}-${asked.name}` }, isAlone ? "" : asked.label);
  if (hasQuestion) {
    legend.append(isAlone ? "" : ": ", quoted("span", "scale-question", asked.question));
  }
  const controls = asked.is_slider ? makeSlider(asked, place) : makePoints(asked, place);
  const skip = maySkip ? makeSkip(asked, place) : null;
  const element = h("fieldset", { class: "scale", "data-criterion": asked.name, "aria-describedby": reply }, legend, controls.element, skip);
  return {
    asked,
    place,
    element,
    show: (rating) => {
      element.toggleAttribute("data-answered", rating !== undefined);
      controls.show(rating);
      const box = skip?.querySelector("input");
      if (box) {
        box.checked = rating === CANT_SAY;
      }
    },
    focus: controls.focus,
  };
}

type Controls = Pick<ScaleControls, "element" | "show" | "focus">;

function makePoints(asked: Asked, place: number): Controls {
  const points = [...Array(asked.highest - asked.lowest + 1).keys()].map((step) => String(asked.lowest + step));
  const isWordy = Object.keys(asked.words).length > MOST_WORDS_IN_A_ROW;
  const radios = points.map((point) => {
    const words = asked.words[point];
    return h("input", {
      type: "radio",
      name: groupOf(asked, place),
      value: point,
      "aria-label": words === undefined ? point : `${point}, ${words}`,
    });
  });
  const faces = radios.map((radio) => {
    const words = isWordy ? asked.words[radio.value] : undefined;
    return h(
      "label",
      { class: "point" },
      radio,
      h("span", { class: "point-face", "aria-hidden": "true" }, radio.value),
      words !== undefined && h("span", { class: "point-words", "aria-hidden": "true", dir: "auto" }, words),
    );
  });
  const row = h("div", { class: isWordy ? "points points-wordy" : "points" }, ...faces);
  row.style.setProperty("--points", String(points.length));
  const element = h("div", { class: "scale-body" }, row, isWordy ? null : wordsBelow(asked));
  return {
    element,
    show: (rating) => radios.forEach((radio) => (radio.checked = radio.value === rating)),
    focus: (preventScroll) => (radios.find((radio) => radio.checked) ?? radios[0])?.focus({ preventScroll }),
  };
}

/** A native slider that shows no knob until it is answered: nothing is chosen in advance. */
function makeSlider(asked: Asked, place: number): Controls {
  const { lowest, highest } = asked;
  const input = h("input", {
    type: "range",
    class: "slider",
    name: groupOf(asked, place),
    min: lowest,
    max: highest,
    step: 1,
    "aria-label": asked.label,
  });
  const told = h("output", { class: "slider-value", "aria-hidden": "true" });
  const show = (rating: string | undefined): void => {
    const isAnswered = rating !== undefined && rating !== CANT_SAY;
    input.value = isAnswered ? rating : String((lowest + highest) / 2);
    input.toggleAttribute("data-unset", !isAnswered);
    input.setAttribute("aria-valuetext", isAnswered ? rating : "not answered yet");
    told.textContent = isAnswered ? rating : "–";
  };
  const element = h("div", { class: "scale-body" }, h("div", { class: "slider-row" }, input, told), wordsBelow(asked));
  return { element, show, focus: (preventScroll) => input.focus({ preventScroll }) };
}

function makeSkip(asked: Asked, place: number): HTMLElement {
  // One of the same group, so that choosing a point takes it back; beside a slider it stands alone.
  const radio = h("input", { type: "radio", name: groupOf(asked, place), value: CANT_SAY });
  return h("label", { class: "skip" }, radio, " Can’t say");
}

function groupOf(asked: Asked, place: number): string {
  return `${place} ${asked.name}`;
}

/** Words at the points that have some, in a line below them: the first on the left, the last on the right. */
function wordsBelow(asked: Asked): HTMLElement | null {
  const points = Object.keys(asked.words).map(Number).sort((one, other) => one - other);
  if (points.length === 0) {
    return null;
  }
  const line = h("div", { class: "scale-words", "aria-hidden": "true" });
  for (const point of points) {
    const share = (point - asked.lowest) / (asked.highest - asked.lowest);
    const word = h("span", { dir: "auto" }, `${asked.is_slider ? "" : `${point}: `}${asked.words[String(point)]}`);
    word.dataset["side"] = share <= 0.25 ? "start" : share >= 0.75 ? "end" : "middle";
    line.append(word);
  }
  return line;
}
