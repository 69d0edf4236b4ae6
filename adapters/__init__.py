"""What answers the ports: one folder for each backend."""
