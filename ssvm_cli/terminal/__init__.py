"""People and the system: messages, progress, signals, what this job may use."""
