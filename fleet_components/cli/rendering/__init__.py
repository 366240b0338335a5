"""What ``fleet render`` writes."""
