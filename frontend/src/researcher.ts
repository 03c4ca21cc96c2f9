// Load the scripts of the researcher's pages: htmx, folding.ts, framing.ts, keeping.ts and leaving.ts.
import "htmx.org";
import "./folding";
import "./framing";
import "./keeping";
import "./leaving";
import "./styles/researcher.css";
