"""Open links: anyone who has the address may join; pay is none, or goes to people elsewhere."""
