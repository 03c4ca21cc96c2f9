import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("generation", "0005_doors")]

    operations = [
        migrations.RenameField("generationrun", "started_at", "requested_at"),
        migrations.AddField("generationrun", "started_at", models.DateTimeField(null=True)),
        migrations.RemoveField("dataset", "style_requested_at"),
        migrations.CreateModel(
            name="StyleCheck",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("requested_at", models.DateTimeField(null=True)),
                ("started_at", models.DateTimeField(null=True)),
                ("seen_at", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
                ("problem", models.TextField(blank=True)),
                (
                    "dataset",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="style_check",
                        to="generation.dataset",
                    ),
                ),
            ],
            options={"abstract": False},
        ),
    ]
