"""ComfyUI: graphs of nodes, followed from what was saved back to the values that made it.

``prompt`` is the graph that was executed; ``workflow`` is how it looked on screen, from which the same
graph is rebuilt where there is no prompt. Nothing of a graph is run.

Invariant: a value that a node computes, or that was to be drawn anew, is reported and never guessed.
"""
