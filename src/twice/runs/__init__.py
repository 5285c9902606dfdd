"""Many runs: what a folder of records holds, and where their work is done."""
