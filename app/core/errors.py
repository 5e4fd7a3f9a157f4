"""Errors of decisions: a question that has no answer. Services turn them into what the caller reads."""


class BudgetError(ValueError):
    """context_size and max_tokens do not fit together."""
