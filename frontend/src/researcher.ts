// Everything the researcher's pages need of script: htmx for parts that reload by themselves, and what is kept.
import "htmx.org";
import "./keeping";
import "./styles/researcher.css";
