"""Features of the arcs of dependency trees."""
