"""Learning from people: reactions, lessons with confidence, a portrait of itself, promises that survive, and facts."""
