"""Options: their groups and types, and what each family of them means."""
