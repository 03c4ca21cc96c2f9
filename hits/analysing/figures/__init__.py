"""Figures of results, the same on the page and in the bundle.

In: `Results`, and the screening's funnel where there is one. Out: `Picture`s, each with a name, a title, its
alternative text, and its SVG and PDF. Guaranteed: the same results give the same bytes; nothing is told by colour
alone; an SVG takes its ink from the text around it, and has no inline style, so that it fits any page, light or dark.
"""
