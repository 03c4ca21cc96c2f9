import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('hits', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='PublishingRun',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('environment', models.CharField(choices=[('local', 'Local'), ('sandbox', 'Sandbox'), ('production', 'Production')], max_length=10)),
                ('most_hits', models.PositiveIntegerField(null=True)),
                ('budget_cents', models.PositiveBigIntegerField(null=True)),
                ('requested_at', models.DateTimeField()),
                ('started_at', models.DateTimeField(null=True)),
                ('seen_at', models.DateTimeField(null=True)),
                ('stop_requested_at', models.DateTimeField(null=True)),
                ('finished_at', models.DateTimeField(null=True)),
                ('outcome', models.TextField(blank=True)),
                ('requested_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='publishing_runs', to=settings.AUTH_USER_MODEL)),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='publishing_runs', to='hits.study')),
            ],
            options={
                'ordering': ['-pk'],
                'constraints': [
                    models.UniqueConstraint(condition=models.Q(('finished_at', None)), fields=('study', 'environment'), name='one_unfinished_run_per_study_and_environment'),
                    models.CheckConstraint(condition=models.Q(('most_hits', 0), _negated=True), name='publishing_run_is_for_some_hits'),
                ],
            },
        ),
        migrations.AddField(
            model_name='publication',
            name='run',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='publications', to='hits.publishingrun'),
        ),
    ]
