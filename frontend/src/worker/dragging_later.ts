// Dragging comes after the page: its library is most of the script, and a board can be worked without it from the start.
import type { DragEvents, DropTarget } from "./dragging";

let loading: Promise<typeof import("./dragging")> | null = null;

export function loadDragging(): Promise<typeof import("./dragging")> {
  loading ??= import("./dragging");
  return loading;
}

/** As soon as it is there. Returns how to end it. */
export function enableDraggingLater(cards: HTMLElement[], targets: DropTarget[], events: DragEvents): () => void {
  let isEnded = false;
  let end = (): void => undefined;
  loadDragging().then(
    ({ enableDragging }) => {
      if (!isEnded) {
        end = enableDragging(cards, targets, events);
      }
    },
    () => {
      loading = null; // the connection was lost: the next board tries again, and this one has keys and clicks
    },
  );
  return () => {
    isEnded = true;
    end();
  };
}
