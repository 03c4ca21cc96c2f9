// The worker's page. The server sends a HIT with all its dialogs; from then on it only receives.
import "../worker.css";
import { readPageData } from "./data";
import { showPreview } from "./preview";
import { showSubmitted } from "./submitting";
import { Work } from "./work";

const root = document.getElementById("work");
if (root !== null) {
  const data = readPageData();
  if (data.mode === "preview") {
    showPreview(root, data);
  } else if (data.submission !== null && data.mode === "submitted") {
    showSubmitted(root, data.submission, false);
  } else {
    new Work(root, data).start();
  }
}
