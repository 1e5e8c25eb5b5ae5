"""Small files about the classes of a problem: taxonomies, features, matrices, pairs."""
