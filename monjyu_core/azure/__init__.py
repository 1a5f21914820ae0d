"""What all services of Azure share."""
