"""What the use cases ask of the outside world: one protocol for each capability."""
