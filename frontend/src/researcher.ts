// Everything the researcher's pages need of script: htmx for parts that reload by themselves, what is kept, and frames.
import "htmx.org";
import "./framing";
import "./keeping";
import "./styles/researcher.css";
