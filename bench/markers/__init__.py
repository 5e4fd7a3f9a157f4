"""The marker test: a story with numbered facts, a model that reads honestly, and a look at what became of each fact."""
