"""Create worker accounts to try the marketplace with: people with different countries and histories."""

from localturk.models import WorkerAccount

SIMULATED = "ASIM"  # the ids of a simulated crowd's workers begin with this, and nobody else's

# The paper asked for workers from the US, Canada, the UK, Australia and New Zealand with 100 approved HITs and an
# approval rate of 95 %. So Ines lives elsewhere, Finn has too few, Gita too many rejected, and Hugo none at all.
WORKERS = [
    ("A1ALICEQ8R2KZ7", "Alice", "US", "CA", 5230, 41),
    ("A2BRUNOT5WX3M9", "Bruno", "CA", "ON", 1204, 12),
    ("A3CLAREH6YD4P1", "Clare", "GB", "", 860, 3),
    ("A1DARIOJ7VN5B2", "Dario", "AU", "", 2411, 60),
    ("A2EMMAWK9SC6L3", "Emma", "NZ", "", 333, 1),
    ("A3FINNXZ2GF8T4", "Finn", "US", "NY", 50, 0),
    ("A1GITAMP4UE9R5", "Gita", "GB", "", 900, 100),
    ("A2INESBV3HA1Q6", "Ines", "DE", "", 3100, 20),
    ("A3HUGODL8JK2S7", "Hugo", "US", "TX", 0, 0),
]


def is_simulated_worker(worker_id: str) -> bool:
    """Return whether a worker of this marketplace is made up. The id tells, because the marketplace gives ids out:
    workers can't choose theirs, and it stands in every listing of their work."""
    return worker_id.startswith(SIMULATED)


def ensure_worker_accounts() -> list[WorkerAccount]:
    """Create the accounts that are missing, and leave the others as they are."""
    return [_ensure_worker(*worker) for worker in WORKERS]


def _ensure_worker(
    worker_id: str, name: str, country: str, subdivision: str, approved: int, rejected: int
) -> WorkerAccount:
    fields = {
        "name": name,
        "country": country,
        "subdivision": subdivision,
        "approved_count": approved,
        "rejected_count": rejected,
    }
    return WorkerAccount.objects.get_or_create(worker_id=worker_id, defaults=fields)[0]
