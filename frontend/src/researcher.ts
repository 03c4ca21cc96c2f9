// Everything the researcher's pages need of script: htmx for parts that reload by themselves.
import "htmx.org";
import "./tokens.css";
import "./researcher.css";
