"""Stops an uploaded file at the limit, before it fills the disk."""

from django.conf import settings
from django.core.files.uploadhandler import FileUploadHandler, SkipFile


class RefuseLarge(FileUploadHandler):
    """Pass a file's pieces on until it is larger than UPLOAD_MB; then drop it. The view finds no file."""

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        if start + len(raw_data) > settings.UPLOAD_MB * 1_000_000:
            raise SkipFile
        return raw_data

    def file_complete(self, file_size: int) -> None:
        return None  # the next handler has it
