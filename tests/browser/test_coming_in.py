"""Coming in, in real Chromium: a log-in that has to wait, and a worker with an invitation."""

from django.contrib.auth.models import User
from django.utils import timezone
from playwright.sync_api import Page, expect
from pytest_django import Settings

from generation.models import Dataset, Generator
from localturk.signing_in import invite_worker, new_account
from tests.browser.conftest import CheckAccessibility


def test_who_has_failed_often_is_told_kindly_when_to_try_again(
    page: Page, check_accessibility: CheckAccessibility
) -> None:
    page.goto("/login/")
    for _ in range(11):
        page.get_by_label("User name").fill("rosa")
        page.get_by_label("Password").fill("wrong")
        page.get_by_role("button", name="Log in").click()
        expect(page.get_by_role("alert")).to_be_visible()

    expect(page.get_by_role("alert")).to_have_text("Too many attempts. Please try again in 5 seconds.")
    expect(page.get_by_label("User name")).to_have_value("rosa")
    check_accessibility(page)


def test_an_invited_worker_chooses_a_password_and_signs_in(
    page: Page, settings: Settings, check_accessibility: CheckAccessibility
) -> None:
    settings.MUST_WORKERS_SIGN_IN = True
    ana = new_account("Ana", "US", approved_count=500)
    page.goto(f"/market/invitation/{invite_worker(ana, timezone.now())}/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Welcome, Ana")
    check_accessibility(page)
    page.get_by_label("Password").fill("password")
    page.get_by_role("button", name="Save it").click()
    expect(page.get_by_role("alert")).to_have_text("This password is too common.")
    page.get_by_label("Password").fill("a long one of her own")
    page.get_by_role("button", name="Save it").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("HITs for Ana")
    check_accessibility(page)

    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in to work")
    check_accessibility(page)
    page.get_by_label("Worker ID").fill(ana.worker_id)
    page.get_by_label("Password").fill("mistyped")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_have_text("Worker ID and password don't match. Both are case-sensitive.")
    expect(page.get_by_label("Worker ID")).to_have_value(ana.worker_id)
    page.get_by_label("Password").fill("a long one of her own")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("HITs for Ana")


def test_what_is_someone_else_s_is_shown_without_buttons(
    researcher_page: Page, check_accessibility: CheckAccessibility
) -> None:
    page = researcher_page
    ben = User.objects.create_user("ben")
    Dataset.objects.update(owner=ben)
    generator = Generator.objects.create(name="ben-s", kind="scripted", version="1", owner=ben)

    page.goto(f"/models/{generator.pk}/")
    expect(page.get_by_text("Its owner, ben, can let it answer.")).to_be_visible()
    expect(page.get_by_role("button", name="Answer them")).to_have_count(0)
    check_accessibility(page)
    page.goto(f"/datasets/{Dataset.objects.all()[0].pk}/")
    expect(page.get_by_text("Its owner, ben, can check it.")).to_be_visible()
    check_accessibility(page)
    page.goto("/health/")
    expect(page.get_by_text("none is running")).to_be_visible()
    page.context.clear_cookies()
    page.goto("/health/")
    expect(page.get_by_text("Log in for details")).to_be_visible()
    check_accessibility(page)
