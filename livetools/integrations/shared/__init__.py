"""What the bridges to pages and to phones share: bounds, checks of options, how a websocket is closed."""
