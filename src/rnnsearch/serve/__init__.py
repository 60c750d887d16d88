"""The translation server: one search for all who ask, and HTTP around it."""
