"""Turns a researcher's Markdown into HTML that is safe in a worker's page."""

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

_TAGS = {"p", "br", "em", "strong", "ul", "ol", "li", "h1", "h2", "h3", "h4", "blockquote", "code", "pre", "hr", "a"}
_renderer = MarkdownIt("commonmark", {"html": False})


def render_markdown(text: str) -> SafeString:
    """Return safe HTML. HTML in the source is shown as text; scripts, images and unusual links are removed."""
    html = nh3.clean(
        _renderer.render(text), tags=_TAGS, attributes={"a": {"href"}}, url_schemes={"http", "https", "mailto"}
    )
    return mark_safe(html)  # noqa: S308  # just cleaned
