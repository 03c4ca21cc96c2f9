// Load the scripts of the researcher's pages: htmx, copying.ts, folding.ts, framing.ts, keeping.ts, leaving.ts and printing.ts.
import "htmx.org";
import "./copying";
import "./folding";
import "./framing";
import "./keeping";
import "./leaving";
import "./printing";
import "./styles/researcher.css";
