"""What a machine must have to run Anima: the model files (fetched, verified) and the doctor that looks for the rest."""
