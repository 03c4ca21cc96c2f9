from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ('hits', '0001_initial'),
    ]

    operations = [
        migrations.AddField(
            model_name='standing',
            name='refusal',
            field=models.TextField(blank=True, default=''),
        ),
        migrations.RenameField(
            model_name='bonuscheck',
            old_name='is_won',
            new_name='is_passed',
        ),
    ]
