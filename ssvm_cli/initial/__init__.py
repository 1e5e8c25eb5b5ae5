"""--init: where training starts."""
