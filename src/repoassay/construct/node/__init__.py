"""What a JavaScript or TypeScript repository says of its tests and their environment."""
