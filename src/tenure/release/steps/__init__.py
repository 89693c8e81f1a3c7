"""What belongs to a step or to its end: scopes, histories, meters, metrics, collections."""
