// Make the page's elements, and show researchers' texts, whose links open in a new tab.
// Strings become text nodes, so that texts of people and models are never read as HTML.

type Child = Node | string | null | false;
type Attribute = string | number | boolean | null | ((event: Event) => void);

/** h("button", { class: "button", type: "button", onclick: go }, "Next"). True is an empty attribute, false and null are none. */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Record<string, Attribute> = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") {
      element.addEventListener(name.slice(2), value);
    } else if (value !== false && value !== null) {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  element.append(...children.filter((child): child is Node | string => child !== null && child !== false));
  return element;
}

/** Shows HTML that our server made and cleaned. Its links open a new tab, so that the work stays open. */
export function prose(html: string): HTMLElement {
  const element = h("div", { class: "prose" });
  element.innerHTML = html;
  for (const link of element.querySelectorAll("a")) {
    link.target = "_blank";
    link.rel = "noopener noreferrer";
  }
  return element;
}

/** Shows a text from the corpus or the study with its own direction and line breaks. */
export function quoted(tag: "div" | "span" | "p", className: string, text: string): HTMLElement {
  return h(tag, { class: className, dir: "auto" }, text);
}

export function button(text: string, className: string, onPress: () => void): HTMLButtonElement {
  return h("button", { type: "button", class: className, onclick: onPress }, text);
}

/** A button that takes no focus when it is pressed by mouse, so that Enter means the same as before. */
export function modestButton(text: string, className: string, onPress: () => void): HTMLButtonElement {
  const made = button(text, className, onPress);
  made.addEventListener("mousedown", (event) => event.preventDefault());
  return made;
}

export function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

/** Shows words in a live region. An empty one takes no space, and the same words are announced again. */
export function say(region: HTMLElement, words: string): void {
  region.textContent = region.textContent === words && words !== "" ? `${words}\u00a0` : words;
}
