"""What `make test` repeats on PostgreSQL, and why: the code under these tests speaks to the database in its own way.

All tests run on SQLite. Pages, commands, formats, words and networks know no database, so they are not run twice; the
queries that they use are those of the rooms below. Add a file here, or a single test of one, when its code locks rows,
relies on a constraint, writes SQL, reads JSON or text by their contents, or sorts by them.
"""

LOCKS = "rows are locked, and two do the same at once"
STATEMENTS = "SQL of our own, which is written differently"
CONSTRAINTS = "what is there already, is twice or is too long is refused by the database"
TEXT = "text and JSON are searched, sorted or refused"
SUMS = "rows are counted, grouped and sorted by the database"
WHOLE = "all of it, once"

REPEATED: dict[str, str | dict[str, str]] = {
    "tests/test_walkthrough.py": WHOLE,
    "tests/frozen/test_study.py": WHOLE,
    "tests/browser/test_worker_page.py": {
        "test_a_refusal_is_told_on_a_page_of_its_own_and_can_be_answered": WHOLE,
        "test_a_whole_hit_by_pointer_with_a_reload_and_a_lost_connection": WHOLE,
    },
    # --- Attacks ---
    "tests/attacks/test_copies_from_elsewhere.py": CONSTRAINTS,
    "tests/attacks/test_failing_surroundings.py": STATEMENTS,
    "tests/attacks/test_forged_visits.py": {
        "test_forged_visits_between_real_ones_change_nobody_s_rotation": STATEMENTS,
        "test_rotations_that_nobody_confirms_are_spread_and_leave_out_what_confirmed_work_has": STATEMENTS,
        "test_who_gives_a_hit_back_leaves_their_rotation_to_the_next": STATEMENTS,
    },
    "tests/attacks/test_hasty_rejections.py": LOCKS,
    "tests/attacks/test_hostile_text.py": TEXT,
    "tests/attacks/test_log_in.py": LOCKS,
    "tests/attacks/test_lying_model_server.py": TEXT,
    "tests/attacks/test_odd_requests.py": TEXT,
    "tests/attacks/test_spending_past_the_cap.py": LOCKS,
    # --- Wiring ---
    "tests/evalplatform/test_health.py": STATEMENTS,
    "tests/evalplatform/test_postgresql.py": STATEMENTS,
    "tests/evalplatform/test_settings.py": STATEMENTS,
    # --- Dialogs and replies ---
    "tests/generation/test_commands.py": {
        "test_a_database_without_tables_is_one_line": STATEMENTS,
    },
    "tests/generation/test_generate_command.py": {
        "test_a_chunk_for_a_model_that_is_loaded_comes_before_one_that_is_not": SUMS,
    },
    "tests/generation/test_generating.py": LOCKS,
    "tests/generation/test_importing_candidates.py": CONSTRAINTS,
    "tests/generation/test_importing_dialogs.py": CONSTRAINTS,
    "tests/generation/test_interrupted_runs.py": LOCKS,
    "tests/generation/test_pages.py": TEXT,
    "tests/generation/test_scoring.py": CONSTRAINTS,
    "tests/generation/test_style_check.py": SUMS,
    # --- Studies, in the order of the rooms ---
    "tests/hits/test_allocating.py": STATEMENTS,
    "tests/hits/test_background_work.py": LOCKS,
    "tests/hits/test_designing.py": {
        "test_dialogs_are_chosen_by_the_seed_and_not_reshuffled_by_later_imports": SUMS,
        "test_odd_values_are_problems_and_never_crashes": TEXT,
        "test_the_same_file_again_gives_the_same_study_and_another_design_is_refused": CONSTRAINTS,
    },
    "tests/hits/test_study_commands.py": CONSTRAINTS,
    "tests/hits/test_study_form.py": {
        "test_a_draft_s_page_chooses_its_dialogs_once_and_names_none_of_them_to_the_database": SUMS,
        "test_any_name_has_its_page_and_bad_names_are_refused": TEXT,
        "test_nonsense_that_is_posted_is_kept_out_or_named_and_never_an_error": TEXT,
    },
    "tests/hits/test_new_protocol.py": {
        "test_the_database_takes_no_rating_twice_and_no_reply_against_itself": CONSTRAINTS,
    },
    "tests/hits/test_batching.py": LOCKS,
    "tests/hits/test_budgeting.py": LOCKS,
    "tests/hits/test_publishing.py": LOCKS,
    "tests/hits/test_publishing_runs.py": LOCKS,
    "tests/hits/test_limiting.py": CONSTRAINTS,
    "tests/hits/test_opening.py": STATEMENTS,
    "tests/hits/test_saving.py": STATEMENTS,
    "tests/hits/test_collecting.py": LOCKS,
    "tests/hits/test_syncing.py": LOCKS,
    "tests/hits/test_waiting.py": LOCKS,
    "tests/hits/test_paying.py": LOCKS,
    "tests/hits/test_invitations.py": {
        "test_a_revoked_rater_begins_nothing_by_an_address_from_before": STATEMENTS,
        "test_a_second_paste_invites_nobody_twice": CONSTRAINTS,
        "test_revoking_stops_who_is_inside_at_once_and_keeps_what_was_handed_in": LOCKS,
        "test_two_devices_that_begin_at_once_get_one_hit": LOCKS,
    },
    "tests/hits/test_invitations_page.py": {
        "test_the_page_tells_how_far_each_is": SUMS,
        "test_the_payroll_counts_collected_work_and_says_what_is_in_hand": SUMS,
    },
    "tests/hits/test_rater_letters.py": {
        "test_the_same_press_and_a_second_run_write_once": LOCKS,
    },
    "tests/hits/test_fair_pay.py": CONSTRAINTS,
    "tests/hits/test_found_there.py": LOCKS,
    "tests/hits/test_choosing_filters.py": {
        "test_asking_lists_titles_and_choices_and_is_remembered": CONSTRAINTS,
    },
    "tests/hits/test_prolific.py": {
        "test_a_lost_answer_makes_no_second_study": STATEMENTS,
        "test_a_study_is_published_worked_on_and_paid": WHOLE,
        "test_participants_may_take_several_hits_if_the_design_allows": LOCKS,
    },
    "tests/hits/test_prolific_bonuses.py": LOCKS,
    "tests/hits/test_prolific_decisions.py": {
        "test_a_request_whose_answer_was_lost_is_made_again": LOCKS,
        "test_work_that_is_given_back_is_not_paid_and_its_place_is_free": STATEMENTS,
    },
    "tests/hits/test_prolific_hooks.py": {
        "test_an_event_that_comes_twice_counts_once": CONSTRAINTS,
        "test_events_that_come_together_wake_one_sync": CONSTRAINTS,
    },
    "tests/hits/test_prolific_shared_account.py": LOCKS,
    "tests/hits/test_screening.py": LOCKS,
    "tests/hits/test_replacing.py": LOCKS,
    "tests/hits/test_putting_up_again.py": CONSTRAINTS,
    "tests/hits/test_analysing.py": SUMS,
    "tests/hits/test_automatic_metrics.py": SUMS,
    "tests/hits/test_results_page.py": SUMS,
    "tests/hits/test_exporting.py": SUMS,
    "tests/hits/test_monitor_pages.py": SUMS,
    "tests/hits/test_researcher_api.py": SUMS,
    "tests/hits/test_sharing.py": SUMS,
    # --- The marketplace that runs here ---
    "tests/localturk/test_assignments.py": LOCKS,
    "tests/localturk/test_concurrency.py": LOCKS,
    "tests/localturk/test_faults.py": LOCKS,
    "tests/localturk/test_hits.py": LOCKS,
    "tests/localturk/test_money.py": LOCKS,
    "tests/localturk/test_qualifications.py": TEXT,
    "tests/localturk/test_tokens.py": CONSTRAINTS,
    "tests/localturk/test_validation.py": {
        "test_a_hit_at_the_limits_is_made": CONSTRAINTS,
        "test_a_moment_that_no_calendar_has_is_refused": TEXT,
    },
    "tests/localturk/test_wire.py": STATEMENTS,
    "tests/localturk/test_working.py": LOCKS,
    # --- The Prolific that runs here ---
    "tests/localprolific/test_money_at_prolific.py": LOCKS,
    "tests/localprolific/test_prolific_at_once.py": LOCKS,
    "tests/localprolific/test_submissions_at_prolific.py": {
        "test_a_bulk_approval_happens_later": LOCKS,
        "test_a_reservation_lasts_ten_minutes": STATEMENTS,
        "test_lists_can_lag": SUMS,
        "test_rows_that_come_between_pages_shift_them": SUMS,
        "test_unreviewed_work_is_approved_after_21_days": STATEMENTS,
    },
}


def is_repeated(test: str) -> bool:
    """Whether a test, by pytest's id for it, is in the list: its whole file, or itself with all its parameters."""
    path, _, name = test.split("[")[0].partition("::")
    listed = REPEATED.get(path, {})
    return isinstance(listed, str) or name in listed
