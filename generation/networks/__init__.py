"""Our own networks, which we train here: one family a file.

families.py lists the families, family.py defines what one is. transformer and meed2 are two of them; emotion_classifier
can be trained like them. They share network_config, tokenizing, layers, reply_state, batches, pair_examples, preparing
and answering; checkpoint_files, checkpoint_parts and checkpoint store them.
"""
