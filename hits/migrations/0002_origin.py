"""Adds where work came from. Rows of earlier databases count as rehearsed: nothing is known that says otherwise."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("hits", "0001_initial")]

    operations = [
        migrations.AddField("offering", "raters_since", models.DateTimeField(null=True)),
        migrations.AddField(
            "submission",
            "origin",
            models.CharField(
                choices=[("people", "People"), ("simulation", "Simulation"), ("rehearsal", "Rehearsal")],
                default="rehearsal",
                max_length=10,
            ),
            preserve_default=False,
        ),
        migrations.AddConstraint(
            "submission",
            models.CheckConstraint(
                condition=models.Q(("origin__in", ["people", "simulation", "rehearsal"])),
                name="submission_has_an_origin",
            ),
        ),
    ]
