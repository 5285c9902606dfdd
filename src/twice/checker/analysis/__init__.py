"""What is known of the code under check, beyond one file."""
