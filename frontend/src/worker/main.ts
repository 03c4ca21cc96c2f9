// Start the worker's page, or say that the browser is too old.
// The server sends a HIT with all its dialogs; after that, the page only sends.
import "../styles/worker.css";
import { readPageData } from "./data";
import { openJoining } from "./joining";
import { showPreview } from "./preview";
import { protocolOf } from "./protocols/registry";
import { showStep, showWithoutWork } from "./shown";
import { showSubmitted } from "./submitting";
import { Work } from "./work";

const joining = document.getElementById("joining");
if (joining !== null) {
  openJoining(joining, isServed());
}

const root = document.getElementById("work");
if (root !== null) {
  // The server has put words there that help if this script does not load. They are shown again if it fails.
  const words = [...root.childNodes];
  const explain = (heading: string): void => {
    root.replaceChildren(...words);
    root.toggleAttribute("data-failed", true);
    const title = root.querySelector("h1");
    if (title !== null) {
      title.textContent = document.title = heading;
    }
  };
  const orExplain = (build: () => void): void => {
    try {
      build();
    } catch (error) {
      explain("This page did not start");
      throw error;
    }
  };
  if (isServed()) {
    orExplain(() => begin(root, orExplain));
  } else {
    explain("This browser is too old for this page");
  }
}

/** Returns whether this is Chrome or Edge 111, Firefox 114, Safari 16.4 or newer, as docs/working.md and vite.config.ts say. */
function isServed(): boolean {
  // color-mix came with exactly these versions, and is the newest feature that is used here.
  return "timeout" in AbortSignal && CSS.supports("color", "color-mix(in srgb, red, red)");
}

function begin(root: HTMLElement, orExplain: (build: () => void) => void): void {
  const data = readPageData();
  const protocol = protocolOf(root.dataset["protocol"] ?? "", data);
  if (data.mode === "preview") {
    showPreview(root, protocol, data);
  } else if (data.mode === "shown") {
    showWithoutWork(root, protocol, data);
  } else if (data.mode === "step") {
    showStep(root, protocol, data);
  } else if (data.submission !== null && data.mode === "submitted") {
    showSubmitted(root, data.crowd, data.submission, false);
  } else {
    new Work(root, protocol, data, orExplain).start();
  }
}
