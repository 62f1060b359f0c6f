"""A web server on the loopback address whose answers are a test's own bytes, well-behaved or not."""

import socket
import threading


class Web:
    """`with Web({"/path": answer}) as web: web.url("/path")`.

    An answer is bytes, sent as they are; or a function that is given the connection. `asked` are the paths.
    """

    def __init__(self, answers):
        self.answers, self.asked, self.over = answers, [], threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.threads = [threading.Thread(target=self.listen)]

    def __enter__(self):
        self.threads[0].start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.listener.shutdown(socket.SHUT_RDWR)  # wakes accept()
        self.listener.close()
        for thread in self.threads:
            thread.join(10)

    def url(self, path):
        return f"http://127.0.0.1:{self.listener.getsockname()[1]}{path}"

    def listen(self):
        while not self.over.is_set():
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.threads.append(threading.Thread(target=self.serve, args=[connection]))
            self.threads[-1].start()

    def serve(self, connection):
        with connection:
            try:
                request = b""
                while b"\r\n\r\n" not in request:
                    if not (block := connection.recv(4096)):
                        return
                    request += block
                path = request.split()[1].decode()
                self.asked.append(path)
                answer = self.answers.get(path.partition("?")[0], status(404))
                if isinstance(answer, bytes):
                    connection.sendall(answer)
                else:
                    answer(connection)
                connection.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # whoever asked has gone

    def silence(self, connection):
        """An answer that never comes."""
        self.over.wait(60)

    def drip(self, head, drop):
        """An answer: the head, then a drop again and again, until nobody listens any more."""
        def answer(connection):
            connection.sendall(head)
            while not self.over.wait(0.02):
                connection.sendall(drop)
        return answer


def ok(body, *headers):
    return page("200 OK", f"Content-Length: {len(body)}", *headers, body=body)


def status(line, *headers):
    return page(line if isinstance(line, str) else f"{line} Not Found", "Content-Length: 0", *headers)


def page(line, *headers, body=b""):
    return "\r\n".join([f"HTTP/1.1 {line}", *headers, "Connection: close", "", ""]).encode() + body
