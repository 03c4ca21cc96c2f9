"""A mail server on loopback, for tests of letters: takes mail, or answers as a test asks."""

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage


class MailServer(socketserver.ThreadingTCPServer):
    """Speaks as much SMTP as a client needs. `answers` replaces what it says to a command: None hangs up instead, and
    `hangs_up_after_data` takes a mail and hangs up before it says so."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Conversation)
        self.mails: list[tuple[str, EmailMessage]] = []  # to whom, by the envelope
        self.answers: dict[str, str | None] = {}
        self.hangs_up_after_data = False

    @property
    def port(self) -> int:
        return int(self.server_address[1])


class _Conversation(socketserver.StreamRequestHandler):
    server: MailServer

    def handle(self) -> None:
        self._say("220 here")
        to = ""
        while line := self.rfile.readline():
            words = line.decode().strip()
            command = words[:4].upper()
            answer = self.server.answers.get(command, {"DATA": "354 go on", "QUIT": "221 bye"}.get(command, "250 fine"))
            if answer is None:
                return
            if command == "RCPT":
                to = words.partition("<")[2].partition(">")[0]
            self._say(answer)
            if command == "QUIT":
                return
            if command == "DATA" and answer.startswith("354"):
                self.server.mails.append((to, self._read_mail()))
                if self.server.hangs_up_after_data:
                    return
                self._say("250 taken")

    def _say(self, words: str) -> None:
        self.wfile.write(f"{words}\r\n".encode())

    def _read_mail(self) -> EmailMessage:
        lines = []
        while (line := self.rfile.readline()) not in (b".\r\n", b""):
            lines.append(line.removeprefix(b".") if line.startswith(b"..") else line)
        mail: EmailMessage = message_from_bytes(b"".join(lines), policy=policy.default)
        return mail


@contextmanager
def mail_server() -> Iterator[MailServer]:
    with MailServer() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()
