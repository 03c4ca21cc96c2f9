"""Beside the rooms: how people are asked, and what their answers mean.

`points` says when a checkpoint is won.
"""
