"""A client of `gpulog lsp`: sends requests, and collects the notifications of the server."""
import json
import os
import subprocess


class Client:
    def __init__(self, gpulog, folder, *arguments, **options):
        self.process = subprocess.Popen([gpulog, 'lsp', *arguments], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, **options)
        self.folder = folder
        self.last_id = 0
        self.versions = {}

    def uri(self, name):
        return 'file://' + os.path.join(os.path.realpath(self.folder), name)

    def send_bytes(self, content):
        self.process.stdin.write(content)
        self.process.stdin.flush()

    def send(self, message):
        content = json.dumps({'jsonrpc': '2.0', **message}).encode()
        self.send_bytes(b'Content-Length: %d\r\n\r\n' % len(content) + content)

    def receive(self):
        length = None
        while (line := self.process.stdout.readline()) not in (b'\r\n', b''):
            name, value = line.split(b':')
            if name == b'Content-Length':
                length = int(value)
        return None if length is None else json.loads(self.process.stdout.read(length))

    def request(self, method, **params):
        """Returns the result, or the error of a request that failed. Skips messages before the answer."""
        return self.answer(self.start(method, **params))

    def start(self, method, **params):
        """Returns the number of the request."""
        self.last_id += 1
        self.send({'id': self.last_id, 'method': method, 'params': params})
        return self.last_id

    def answer(self, number):
        while (message := self.receive()) is not None:
            if message.get('id') == number and 'method' not in message:
                return message['result'] if 'result' in message else message['error']
        raise EOFError(self.process.stderr.read().decode())

    def notify(self, method, **params):
        self.send({'method': method, 'params': params})

    def initialize(self, **params):
        return self.request('initialize', processId=os.getpid(), rootUri='file://' + os.path.realpath(self.folder),
                            capabilities={}, **params)

    def open(self, name, text):
        self.versions[name] = 1
        self.notify('textDocument/didOpen',
                    textDocument={'uri': self.uri(name), 'languageId': 'souffle', 'version': 1, 'text': text})

    def change(self, name, *changes):
        self.versions[name] += 1
        self.notify('textDocument/didChange', textDocument={'uri': self.uri(name), 'version': self.versions[name]},
                    contentChanges=list(changes))

    def diagnostics(self, name):
        """Waits for diagnostics of the current version of the document."""
        while (message := self.receive()) is not None:
            params = message.get('params', {})
            if message.get('method') == 'textDocument/publishDiagnostics' and params['uri'] == self.uri(name) \
                    and params['version'] == self.versions[name]:
                return params['diagnostics']
        raise EOFError(self.process.stderr.read().decode())

    def ask(self, method, name, **params):
        return self.request('textDocument/' + method, textDocument={'uri': self.uri(name)}, **params)

    def close(self):
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                pipe.close()
            except BrokenPipeError:
                pass

    def end(self):
        """Ends the session as the protocol requires. Returns the exit status."""
        self.request('shutdown')
        self.notify('exit')
        return self.wait()

    def wait(self):
        self.process.stdin.close()
        self.process.stdout.read()
        status = self.process.wait()
        self.errors = self.process.stderr.read().decode()
        self.process.stdout.close()
        self.process.stderr.close()
        return status
