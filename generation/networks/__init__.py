"""The papers' networks. Reading order: labels, config, tokenizing, layers, reply_state, transformer, meed2,
response_predictor, emotion_classifier, checkpoint_files, checkpoint."""
