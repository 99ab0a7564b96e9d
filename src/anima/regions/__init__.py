"""One module per brain region: pure components without clock or ROS."""
