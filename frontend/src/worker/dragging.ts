// Dragging by mouse, pen and finger. The board does the same by keys and clicks: here is only what needs a pointer.
import {
  AutoScroller,
  DragDropManager,
  Draggable,
  Droppable,
  Feedback,
  PointerActivationConstraints,
  PointerSensor,
  StyleInjector,
} from "@dnd-kit/dom";

const { Delay, Distance } = PointerActivationConstraints;
const OVERLAY_PRIORITY = 10;

export interface DropTarget {
  element: HTMLElement;
  area: string;
  /** Lies over other targets, and does not scroll with them. */
  isOverlay: boolean;
}

export interface DragEvents {
  onStart(): void;
  onOver(target: DropTarget | null): void;
  onDrop(place: number, target: DropTarget | null, hasMoved: boolean): void;
}

/** Returns how to end it. */
export function enableDragging(cards: HTMLElement[], targets: DropTarget[], events: DragEvents): () => void {
  // Not the library's keyboard sensor and live region: space, arrows and aria-pressed have other meanings on the board.
  const manager = new DragDropManager({
    sensors: [PointerSensor.configure({ activationConstraints })],
    plugins: [AutoScroller.configure({ threshold: { x: 0, y: 0.12 } }), Feedback.configure({ dropAnimation: null })],
  });
  // It adds a <style> element, which our Content-Security-Policy forbids. The rules are in worker.css.
  manager.registry.plugins.unregister(StyleInjector);

  cards.forEach((element, place) => new Draggable({ id: `card-${place}`, element, data: { place } }, manager));
  const droppables = targets.map(
    (target, index) =>
      new Droppable(
        {
          id: `target-${index}`,
          element: target.element,
          data: { target },
          ...(target.isOverlay && { collisionPriority: OVERLAY_PRIORITY }),
        },
        manager,
      ),
  );

  manager.monitor.addEventListener("dragstart", () => {
    events.onStart();
    droppables.forEach((droppable) => droppable.refreshShape());
  });
  manager.monitor.addEventListener("dragover", ({ operation }) => {
    const target = targetOf(operation.target);
    const scroller = manager.registry.plugins.get(AutoScroller);
    if (target?.isOverlay === true) {
      scroller?.disable();
    } else {
      scroller?.enable();
    }
    events.onOver(target);
  });
  manager.monitor.addEventListener("dragend", ({ operation, canceled }) => {
    const { source, transform } = operation;
    const target = canceled ? null : targetOf(operation.target);
    events.onOver(null);
    if (source !== null) {
      const hasMoved = canceled || Math.hypot(transform.x, transform.y) > 5;
      // Later: the library first puts the card back to where it came from.
      window.setTimeout(() => events.onDrop(Number(source.data["place"]), target, hasMoved));
    }
  });
  return () => manager.destroy();
}

/** A finger that moves at once scrolls the page; one that rests takes the card. */
function activationConstraints(event: PointerEvent): (InstanceType<typeof Delay> | InstanceType<typeof Distance>)[] {
  return event.pointerType === "touch" ? [new Delay({ value: 200, tolerance: 8 })] : [new Distance({ value: 5 })];
}

function targetOf(droppable: Droppable | null): DropTarget | null {
  return (droppable?.data["target"] as DropTarget | undefined) ?? null;
}
