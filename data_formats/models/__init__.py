"""The model file, its header, and the model as text."""
