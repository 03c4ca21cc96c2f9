// Load the scripts of the researcher's pages: htmx, copying.ts, finding.ts, folding.ts, framing.ts, keeping.ts, leaving.ts, printing.ts and uploading.ts.
import "htmx.org";
import "./copying";
import "./finding";
import "./folding";
import "./framing";
import "./keeping";
import "./leaving";
import "./printing";
import "./uploading";
import "./styles/researcher.css";
