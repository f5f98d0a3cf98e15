"""A headless Chromium, driven over the DevTools protocol through a pipe: nothing to install besides the browser."""
import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time


class BrowserError(Exception):
    pass


def find_chromium():
    return next((path for path in map(shutil.which, ('chromium', 'chromium-browser', 'google-chrome')) if path), None)


class Browser:
    def __init__(self, program, width=1400, height=1000):
        self.profile = tempfile.TemporaryDirectory(prefix='torchmem-chromium-', ignore_cleanup_errors=True)
        to_read, self.write_end = os.pipe()
        self.read_end, to_write = os.pipe()

        def arrange():
            # The protocol's numbers; first out of the way of each other.
            first, second = os.dup(to_read), os.dup(to_write)
            spare = os.dup(first), os.dup(second)
            os.dup2(spare[0], 3)
            os.dup2(spare[1], 4)

        said = os.path.join(self.profile.name, 'stderr')
        with open(said, 'w') as stderr:
            self.process = self.start(program, arrange, stderr, width, height)
        os.close(to_read)
        os.close(to_write)
        self.buffer = b''
        self.last_id = 0
        self.events = []
        try:
            self.call('Browser.getVersion', timeout=60)
        except BrowserError as error:
            raise BrowserError(f'{error}\n{pathlib.Path(said).read_text()}') from error

    def start(self, program, arrange, stderr, width, height):
        return subprocess.Popen(
            [program, '--headless=new', '--remote-debugging-pipe', '--no-sandbox', '--disable-dev-shm-usage',
             '--disable-gpu',
             '--no-first-run', '--no-default-browser-check', '--disable-extensions', '--disable-background-networking',
             '--disable-component-update', '--disable-sync', '--hide-scrollbars', '--force-color-profile=srgb',
             f'--user-data-dir={self.profile.name}', f'--window-size={width},{height}', 'about:blank'],
            preexec_fn=arrange, pass_fds=(3, 4), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=stderr, env={**os.environ, 'HOME': self.profile.name})  # fmt: skip

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.write_end)
        os.close(self.read_end)
        self.profile.cleanup()

    def receive(self, until):
        """The next message; None when there is none before that time."""
        while b'\0' not in self.buffer:
            ready, _, _ = select.select([self.read_end], [], [], max(0, until - time.monotonic()))
            if not ready:
                return None
            data = os.read(self.read_end, 1 << 20)
            if not data:
                raise BrowserError('the browser ended')
            self.buffer += data
        message, _, self.buffer = self.buffer.partition(b'\0')
        return json.loads(message)

    def call(self, method, parameters=None, session=None, timeout=60):
        self.last_id += 1
        message = {'id': self.last_id, 'method': method, 'params': parameters or {}}
        if session:
            message['sessionId'] = session
        data = json.dumps(message).encode() + b'\0'
        while data:
            data = data[os.write(self.write_end, data):]
        until = time.monotonic() + timeout
        while True:
            answer = self.receive(until)
            if answer is None:
                raise BrowserError(f'{method} was not answered within {timeout} s')
            if answer.get('id') == self.last_id:
                if 'error' in answer:
                    raise BrowserError(f"{method}: {answer['error']['message']}")
                return answer['result']
            self.events.append(answer)


class Page:
    """A page opened from a file. Everything that it logs or asks the network for is kept."""

    def __init__(self, browser, path, width=1400, height=1000, scale=1, scheme='light'):
        self.browser = browser
        target = browser.call('Target.createTarget', {'url': 'about:blank'})['targetId']
        self.target = target
        self.session = browser.call('Target.attachToTarget', {'targetId': target, 'flatten': True})['sessionId']
        for domain in ('Page', 'Runtime', 'Network', 'Log'):
            self.call(domain + '.enable')
        self.resize(width, height, scale)
        self.emulate(scheme)
        self.url = path.resolve().as_uri()
        self.call('Page.navigate', {'url': self.url})
        self.wait("performance.getEntriesByName('first picture').length")

    def resize(self, width, height, scale=1):
        self.call('Emulation.setDeviceMetricsOverride',
                  {'width': width, 'height': height, 'deviceScaleFactor': scale, 'mobile': False})

    def emulate(self, scheme):
        self.call('Emulation.setEmulatedMedia', {'features': [{'name': 'prefers-color-scheme', 'value': scheme}]})

    def call(self, method, parameters=None):
        return self.browser.call(method, parameters, self.session)

    def close(self):
        self.browser.call('Target.closeTarget', {'targetId': self.target})

    def evaluate(self, expression):
        answer = self.call('Runtime.evaluate', {'expression': expression, 'returnByValue': True, 'awaitPromise': True})
        if 'exceptionDetails' in answer:
            raise BrowserError(
                f"{expression}: {answer['exceptionDetails'].get('exception', {}).get('description', 'failed')}")
        return answer['result'].get('value')

    def wait(self, condition, timeout=30):
        until = time.monotonic() + timeout
        while not self.evaluate(condition):
            if time.monotonic() > until:
                raise BrowserError(f'did not become true: {condition}\n{self.complaints()}')
            time.sleep(0.02)

    def settle(self):
        """Until two frames have been drawn."""
        self.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))')

    def box(self, selector):
        """x, y, width, height in the window, scrolled to where it can be seen."""
        self.evaluate(f'document.querySelector({json.dumps(selector)}).scrollIntoView({{block: "center"}})')
        self.settle()
        return self.evaluate(
            f'(() => {{ const box = document.querySelector({json.dumps(selector)}).getBoundingClientRect();'
                             'return [box.x, box.y, box.width, box.height]; })()')  # fmt: skip

    def mouse(self, kind, x, y, **more):
        self.call('Input.dispatchMouseEvent', {'type': kind, 'x': x, 'y': y, **more})

    def move(self, x, y):
        self.mouse('mouseMoved', x, y)
        self.settle()

    def click(self, x, y, count=1):
        for number in range(1, count + 1):
            self.mouse('mousePressed', x, y, button='left', clickCount=number)
            self.mouse('mouseReleased', x, y, button='left', clickCount=number)
        self.settle()

    def drag(self, x, y, to_x, to_y):
        self.mouse('mousePressed', x, y, button='left', clickCount=1)
        for step in range(1, 6):
            self.mouse('mouseMoved', x + (to_x - x) * step / 5, y + (to_y - y) * step / 5, button='left', buttons=1)
        self.mouse('mouseReleased', to_x, to_y, button='left', clickCount=1)
        self.settle()

    def screenshot(self, path, whole=False):
        parameters = {'format': 'png'}
        if whole:
            size = self.call('Page.getLayoutMetrics')['cssContentSize']
            parameters |= {'captureBeyondViewport': True,
                           'clip': {'x': 0, 'y': 0, 'width': size['width'], 'height': size['height'], 'scale': 1}}
        path.write_bytes(base64.b64decode(self.call('Page.captureScreenshot', parameters)['data']))

    def mine(self):
        return [event for event in self.browser.events if event.get('sessionId') == self.session]

    def complaints(self):
        """Errors and warnings on the console, uncaught exceptions, violations of the security policy."""
        found = []
        for event in self.mine():
            parameters = event.get('params', {})
            if event['method'] == 'Runtime.exceptionThrown':
                details = parameters['exceptionDetails']
                found.append(details.get('exception', {}).get('description') or details['text'])
            elif event['method'] == 'Runtime.consoleAPICalled' and parameters['type'] in ('error', 'warning', 'assert'):
                found.append(' '.join(str(value.get('value')) for value in parameters['args']))
            elif event['method'] == 'Log.entryAdded' and parameters['entry']['level'] in ('error', 'warning'):
                found.append(parameters['entry']['text'])
        return found

    def requests(self):
        """What was asked for besides the file itself; the icon is an empty data: address."""
        urls = [event['params']['request']['url'] for event in self.mine()
                if event['method'] == 'Network.requestWillBeSent']
        return [url for url in urls if url != self.url and not url.startswith('data:')]
