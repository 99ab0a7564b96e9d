"""Getting from here to there: costmap, global planner and path follower behind the `Navigator` interface."""
