import django.db.models.deletion
from django.db import migrations, models


def hold_since_opened(apps, schema_editor):
    apps.get_model("hits", "Assignment").objects.update(held_at=models.F("opened_at"))


class Migration(migrations.Migration):
    dependencies = [("hits", "0002_publishing_run")]

    operations = [
        migrations.AddField("assignment", "held_at", models.DateTimeField(null=True)),
        migrations.RunPython(hold_since_opened, migrations.RunPython.noop),
        migrations.AlterField("assignment", "held_at", models.DateTimeField()),
        migrations.AddField("assignment", "taken_over_at", models.DateTimeField(null=True)),
        migrations.AddField("assignment", "step", models.CharField(default="welcome", max_length=20)),
        migrations.AddField("assignment", "feedback", models.TextField(blank=True, default=""), preserve_default=False),
        migrations.AddField("assignment", "submitted_at", models.DateTimeField(null=True)),
        migrations.AddField("answer", "revision", models.PositiveIntegerField(default=1)),
        migrations.AddField("answer", "active_ms", models.PositiveIntegerField(default=0)),
        migrations.AddField("answer", "hidden_ms", models.PositiveIntegerField(default=0)),
        migrations.AddField("answer", "moves", models.JSONField(default=list)),
        migrations.AddField("answer", "problem", models.TextField(blank=True, default=""), preserve_default=False),
        migrations.CreateModel(
            name="BonusCheck",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("attempt", models.PositiveSmallIntegerField()),
                ("value", models.JSONField()),
                ("is_won", models.BooleanField()),
                ("active_ms", models.PositiveIntegerField()),
                ("checked_at", models.DateTimeField()),
                (
                    "assignment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="bonus_checks", to="hits.assignment"
                    ),
                ),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="bonus_checks", to="hits.hititem"
                    ),
                ),
            ],
            options={"ordering": ["attempt"]},
        ),
        migrations.AddConstraint(
            "bonuscheck",
            models.UniqueConstraint(fields=["assignment", "item", "attempt"], name="one_check_per_item_and_attempt"),
        ),
    ]
