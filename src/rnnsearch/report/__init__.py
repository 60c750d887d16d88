"""What a person looks at: heat maps, curves, the page that tells a model's story."""
