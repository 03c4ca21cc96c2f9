// The script of the researcher's pages: htmx for parts that reload by themselves, fields that every form sends, a question before
// unsaved changes are lost, and frames.
import "htmx.org";
import "./framing";
import "./keeping";
import "./leaving";
import "./styles/researcher.css";
