"""Networks are not repeated on PostgreSQL, and not even looked at there: importing torch takes each process seconds."""

import os

if os.environ.get("TEST_DATABASE_URL"):
    collect_ignore = [
        "test_decoding.py",
        "test_hugging_face.py",
        "test_own_networks.py",
        "test_scoring_with_networks.py",
        "test_training.py",
        "test_training_data.py",
    ]
