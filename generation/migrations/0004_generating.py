from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("generation", "0003_scores")]

    operations = [
        migrations.AddField("candidate", "thoughts", models.TextField(blank=True, default="")),
        migrations.AddField("generationrun", "away_since", models.DateTimeField(null=True)),
        migrations.AddField("generationrun", "next_try_at", models.DateTimeField(null=True)),
    ]
