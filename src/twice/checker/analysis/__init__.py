"""What is known of the code under check beyond one expression: where orders end, and what other files say of a value."""
