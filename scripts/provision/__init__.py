"""Makes a machine ready to build, test and run Anima; standard library only, as it runs before all else is there."""
