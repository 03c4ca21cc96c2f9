// List the protocols that a study may have, by the names of hits/protocols. One line each.
import type { PageData } from "../../generated/page";
import { areasProtocol } from "./areas";
import { bestWorstProtocol } from "./best_worst";
import type { Protocol } from "./contract";
import { likertProtocol } from "./likert";
import { pairsProtocol } from "./pairs";

const PROTOCOLS: Record<string, (data: PageData) => Protocol> = {
  areas: areasProtocol,
  likert: likertProtocol,
  pairs: pairsProtocol,
  "best-worst": bestWorstProtocol,
};

export function protocolOf(name: string, data: PageData): Protocol {
  const make = PROTOCOLS[name];
  if (make === undefined) {
    throw new Error(`This page does not know the protocol ${name}.`);
  }
  return make(data);
}
