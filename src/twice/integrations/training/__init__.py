"""Trainings of known libraries as ``twice resume-check`` sees them: their moments, and the objects that hold their state."""
