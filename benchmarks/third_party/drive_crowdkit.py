"""Run crowd-kit's Dawid-Skene on a file's ratings, in its own environment. Print seconds, write posteriors beside
it."""

import sys
import time
import warnings

import numpy as np
import pandas as pd
from crowdkit.aggregation import DawidSkene

warnings.filterwarnings("ignore")
path, steps = sys.argv[1], int(sys.argv[2])
codes = np.load(path)
data = pd.DataFrame({"task": codes["reply"], "worker": codes["worker"], "label": codes["value"]})
started = time.process_time()
found = DawidSkene(n_iter=steps, tol=-1e9).fit_predict_proba(data)
print(time.process_time() - started)
np.save(f"{path}.found.npy", found.sort_index().sort_index(axis=1).to_numpy())
