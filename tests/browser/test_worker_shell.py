"""What stands around the work on a worker's page: its beginning, its clock, its voice, its end, and what goes wrong."""

from datetime import timedelta

import pytest
from playwright.sync_api import expect

from hits.models import Assignment
from tests.browser.conftest import SMALL, OpenPage, Publish, WorkUrl
from tests.browser.worker_moves import open_first_dialog


@pytest.mark.once
@pytest.mark.parametrize("minutes_left", [5, 1])
def test_the_page_stands_when_little_time_is_left(
    open_page: OpenPage, publish: Publish, work_url: WorkUrl, minutes_left: int
) -> None:
    url = work_url(publish(**SMALL))
    page = open_first_dialog(open_page(), url)
    opened = Assignment.objects.get()
    Assignment.objects.update(held_at=opened.held_at - timedelta(minutes=60 - minutes_left, seconds=30))

    page.reload()

    expect(page.get_by_role("heading", level=1)).to_contain_text("Conversation 1")
    expect(page.get_by_text(f"{60 - minutes_left} of 60 minutes used")).to_be_visible()
