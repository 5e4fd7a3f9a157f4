"""Turnfold: conversation memory for chat frontends."""
