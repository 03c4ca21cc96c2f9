// Load the scripts of the researcher's pages: htmx, framing.ts, keeping.ts, leaving.ts and printing.ts.
import "htmx.org";
import "./framing";
import "./keeping";
import "./leaving";
import "./printing";
import "./styles/researcher.css";
