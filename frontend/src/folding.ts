// On pages with a table of contents (data-contents): open the fold that a link leads to, mark where the reader is, and
// keep the table of contents closed on screens that are too narrow to show it beside the text.
const contents = document.querySelector<HTMLElement>("[data-contents]");
const narrow = matchMedia("(max-width: 64rem)");

function openTarget(): void {
  const id = decodeURIComponent(location.hash.slice(1));
  const target = id === "" ? null : document.getElementById(id);
  if (target === null) return;
  for (let fold = target.closest("details"); fold !== null; fold = fold.parentElement?.closest("details") ?? null) {
    fold.open = true;
  }
  target.scrollIntoView();
}

function fitContents(list: HTMLDetailsElement): void {
  list.open = !narrow.matches;
}

function markPlace(links: HTMLAnchorElement[]): void {
  const parts = links.map((link) => document.getElementById(decodeURIComponent(link.hash.slice(1))));
  const above = parts.filter((part) => part !== null && part.getBoundingClientRect().top < innerHeight / 3);
  const here = above.at(-1) ?? parts[0];
  for (const [place, link] of links.entries()) {
    if (here !== null && parts[place] === here) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}

if (contents !== null) {
  const links = [...contents.querySelectorAll<HTMLAnchorElement>("a[href^='#']")];
  const list = contents.querySelector("details");
  if (list !== null) {
    fitContents(list);
    narrow.addEventListener("change", () => fitContents(list));
    contents.addEventListener("click", (event) => {
      if (!(event.target instanceof HTMLAnchorElement)) return;
      fitContents(list); // a list that covers the text closes when something was chosen
      // The same link twice changes no address, but the fold may have been closed since.
      if (event.target.hash === location.hash) openTarget();
    });
  }
  addEventListener("hashchange", openTarget);
  addEventListener("scroll", () => markPlace(links), { passive: true });
  openTarget();
  markPlace(links);
}
