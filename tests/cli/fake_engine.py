#!/usr/bin/env python3
"""Plays the engine: writes the records of FAKE_ENGINE_RECORDS to the request's stream and ends as they say.

A line that starts with '!' is an order: `!exit N`, `!kill SIGNAL`, `!wait` (until a signal ends it; the file `waiting`
in the current folder says that it has come to that), `!say TEXT` (on standard output), `!repeat N RECORD`, `!keep FILE`
(a copy of the request), `!environment NAME` (that variable, on standard error), `!sleep SECONDS`, `!wait-if TEXT` and
`!crash-if TEXT` (where the request has that text). `REQUEST` in a record becomes the request as JSON.
"""
import json
import os
import shutil
import signal
import sys
import time


def main():
    request = json.load(open(sys.argv[1]))
    with open(request['stream'], 'w') as stream:
        for line in open(os.environ['FAKE_ENGINE_RECORDS']):
            if not line.startswith('!'):
                stream.write(line.replace('REQUEST', json.dumps(request)))
                continue
            stream.flush()
            order, _, argument = line[1:].strip().partition(' ')
            if order.endswith('-if') and argument not in json.dumps(request):
                continue
            order = order.removesuffix('-if')
            if order == 'exit':
                return int(argument)
            if order == 'kill':
                os.kill(os.getpid(), getattr(signal, argument))
            if order == 'crash':
                os.kill(os.getpid(), signal.SIGSEGV)
            if order == 'wait':
                open('waiting', 'w').close()
                signal.signal(signal.SIGINT, signal.SIG_DFL)
                signal.pause()
            if order == 'repeat':
                count, _, record = argument.partition(' ')
                stream.write(f'{record}\n' * int(count))
            if order == 'say':
                print(argument, flush=True)
            if order == 'sleep':
                time.sleep(float(argument))
            if order == 'keep':
                shutil.copyfile(sys.argv[1], argument)
            if order == 'environment':
                # In one piece: several engines may be at it at once.
                os.write(sys.stderr.fileno(), f'{argument}={os.environ.get(argument)}\n'.encode())
    return 0


sys.exit(main())
