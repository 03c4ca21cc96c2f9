"""Block workers, unblock them, and list blocks."""

from datetime import datetime

from localturk.models import WorkerBlock
from localturk.operations.finding import find_worker
from localturk.operations.operation_table import Answer, Params, operation
from localturk.paging import page_of
from localturk.rendering import block_shape


@operation("CreateWorkerBlock")
def create_worker_block(params: Params, now: datetime) -> Answer:
    """Block a worker. If they are blocked already, the new reason replaces the old one. AWS does not document this."""
    worker = find_worker(params["WorkerId"])
    WorkerBlock.objects.update_or_create(worker=worker, defaults={"reason": params["Reason"], "blocked_at": now})
    return {}


@operation("DeleteWorkerBlock")
def delete_worker_block(params: Params, now: datetime) -> Answer:
    WorkerBlock.objects.filter(worker=find_worker(params["WorkerId"])).delete()
    return {}


@operation("ListWorkerBlocks")
def list_worker_blocks(params: Params, now: datetime) -> Answer:
    page, counts = page_of(WorkerBlock.objects.select_related("worker"), params, "blocks")
    return {"WorkerBlocks": [block_shape(block) for block in page], **counts}
