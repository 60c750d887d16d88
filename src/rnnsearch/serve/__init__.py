"""The translation server: one search for the requests of all clients, and an HTTP interface."""
