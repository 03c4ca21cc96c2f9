// The script of the researcher's pages: htmx for parts that reload by themselves, fields that every form sends, and frames.
import "htmx.org";
import "./framing";
import "./keeping";
import "./styles/researcher.css";
