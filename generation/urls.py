from django.urls import path

from generation import views

urlpatterns = [
    path("datasets/", views.list_datasets, name="datasets"),
    path("datasets/<int:pk>/", views.show_dataset, name="dataset"),
    path("datasets/<int:pk>/style-check/", views.show_style_check, name="style-check"),
    path("datasets/<int:pk>/style-check/request/", views.request_style_check, name="request-style-check"),
    path("dialogs/<int:pk>/", views.show_dialog, name="dialog"),
]
