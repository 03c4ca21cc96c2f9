// Load the scripts of the researcher's pages: htmx, framing.ts, keeping.ts and leaving.ts.
import "htmx.org";
import "./framing";
import "./keeping";
import "./leaving";
import "./styles/researcher.css";
