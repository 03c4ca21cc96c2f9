"""Draws the figures of results, which are the same on the page and in the bundle.

In: `Results`, and the screening's funnel if there is one. Out: `Picture`s, each with a name, a title, its alternative
text, and its SVG and PDF. Guaranteed: the same results give the same bytes; colour alone never carries a meaning; an
SVG takes its ink from the text around it and has no inline style, so that it fits any page, light or dark.
"""
