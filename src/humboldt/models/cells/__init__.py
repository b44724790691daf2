"""What a recurrent network does at one time step."""
