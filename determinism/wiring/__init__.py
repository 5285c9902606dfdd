# Laid down by twice scaffold from sheet 00; owned by it: change the sheet, or eject the file.
"""The wiring of twice to its specification in determinism-and-replay."""
