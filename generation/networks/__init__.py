"""Our own networks: one family a file.

families.py lists the families, family.py says what one is. transformer and meed2 are two of them; emotion_classifier
can be trained like them. What they share: network_config, tokenizing, layers, reply_state, batches, pair_examples,
preparing, answering; and checkpoint_files, checkpoint_parts and checkpoint for what is stored.
"""
