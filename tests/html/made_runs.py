"""Runs made up for tests of the report: the event streams that an engine would write, and what must come out."""
import bisect
import json

MIB = 1 << 20
SEGMENT = 256 * MIB


class MadeRun:
    """Plays an allocator: each block at the front of the first free piece that is large enough."""

    def __init__(self, facts=None):
        self.records = ['torchmem-stream 1', 'M ' + json.dumps(facts or {})]
        self.events = 0
        self.stacks = {}
        self.tensors = 0
        self.free = []  # (address, size) by address
        self.next_segment = 0x7f0000000000
        self.live = {}  # address: (block bytes, requested, category)
        self.allocated = [0]  # after so many events
        self.segments = []  # (address, size)
        self.reserved = [0]  # after so many events

    def stack(self, op, module, line, extra=()):
        frames = [{'filename': '<op>', 'line': 0, 'name': op}]
        if module is not None:
            frames.append({'filename': '<module>', 'line': 0, 'name': module})
        frames += [{'filename': file, 'line': number, 'name': name} for file, number, name in extra]
        frames.append({'filename': line[0], 'line': line[1], 'name': 'forward'})
        key = json.dumps(frames)
        if key not in self.stacks:
            self.records.append(f'F {len(self.stacks)} {key}')
            self.stacks[key] = len(self.stacks)
        return self.stacks[key]

    def tensor(self, name, dtype, shape):
        self.records.append(f'T {self.tensors} ' + json.dumps({'name': name, 'dtype': dtype, 'shape': shape}))
        self.tensors += 1
        return self.tensors - 1

    def event(self, action, address, size, stack, change=0):
        self.records.append(f'E {action} 0 {address} {size} 0 {10 * self.events} {"-" if stack is None else stack}')
        self.events += 1
        self.allocated.append(self.allocated[-1] + change)
        self.reserved.append(self.reserved[-1])

    def alloc(self, requested, category=None, stack=None, tensor=None):
        size = -(-requested // 512) * 512
        for i, (address, room) in enumerate(self.free):
            if room >= size:
                break
        else:
            segment = max(SEGMENT, -(-size // (2 * MIB)) * 2 * MIB)
            address, room = self.next_segment, segment
            self.next_segment += segment + 2 * MIB  # never neighbours
            self.event('segment_alloc', address, segment, stack)
            self.segments.append((address, segment))
            self.reserved[-1] += segment
            i = bisect.bisect(self.free, (address, room))
            self.free.insert(i, (address, room))
        if room > size:
            self.free[i] = (address + size, room - size)
        else:
            del self.free[i]
        number = self.events
        self.event('alloc', address, requested, stack, size)
        self.records.append(f'B {number} {size}')
        if category:
            self.records.append(
                f'O {number} {category} {"-" if tensor is None else tensor} {"-" if stack is None else stack}')
        self.live[address] = (size, requested, category or 'other')
        return address

    def release(self, address):
        size, requested, _ = self.live.pop(address)
        self.event('free_requested', address, requested, None, -size)
        self.event('free_completed', address, requested, None)
        i = bisect.bisect(self.free, (address, 0))
        if i < len(self.free) and self.free[i][0] == address + size:
            size += self.free[i][1]
            del self.free[i]
        if i > 0 and sum(self.free[i - 1]) == address:
            address, before = self.free[i - 1]
            size += before
            del self.free[i - 1]
            i -= 1
        self.free.insert(i, (address, size))

    def phase(self, name, iteration=None):
        phase = {'phase': name, 'events': self.events,
                 'allocated_bytes': {'current': self.allocated[-1], 'peak': max(self.allocated)}}
        if iteration is not None:
            phase['iteration'] = iteration
        self.records.append('P ' + json.dumps(phase))

    def final_segments(self):
        """As a snapshot has them."""
        pieces = [(address, {'size': size, 'requested_size': requested, 'state': 'active_allocated'})
                  for address, (size, requested, _) in self.live.items()]
        pieces += [(address, {'size': size, 'requested_size': 0, 'state': 'inactive'}) for address, size in self.free]
        pieces.sort(key=lambda piece: piece[0])
        return [{'device': 0, 'address': address, 'total_size': size, 'stream': 0, 'segment_type': 'large',
                 'blocks': [{'address': at, **piece} for at, piece in pieces if address <= at < address + size]}
                for address, size in self.segments]  # fmt: skip

    def text(self):
        return '\n'.join([*self.records, 'Z ' + json.dumps({'segments': self.final_segments()})]) + '\n'


FACTS = {'device': {'kind': 'virtual', 'profile': 'h200', 'name': 'NVIDIA H200', 'index': 0, 'verified': True},
         'software': {'torch': '2.11.0', 'cuda': '13.0', 'cudnn': '9.19.0'},
         'arguments': {'mode': 'train', 'optimizer': 'adamw', 'optimizer_form': 'loop', 'loss': 'sum', 'steps': 3}}


def training(layers, iterations, least_events=0):
    """A network of `layers` layers, trained; more iterations until there are that many events."""
    run = MadeRun(FACTS)
    weights = []
    for i in range(layers):
        module = f'blocks.{i // 8}.layer{i % 8} (Linear)'
        stack = run.stack('aten::to', module, ('model.py', 10))
        name = f'blocks.{i // 8}.layer{i % 8}.weight'
        size = MIB // 2 + 4096 * (i % 7)
        weights.append((size, run.tensor(name, 'f32', [size // 4]), name))
        run.alloc(size, 'parameters', stack, weights[-1][1])
    run.phase('load')
    state = {}
    iteration = 0
    while iteration < iterations or run.events < least_events:
        batch = run.alloc(3 * MIB, 'inputs', run.stack('aten::to', None, ('train.py', 5)))
        run.phase('input', iteration)
        saved = []
        for i in range(layers):
            module = f'blocks.{i // 8}.layer{i % 8} (Linear)'
            stack = run.stack('aten::linear', module, ('model.py', 20 + i % 8))
            saved.append(run.alloc(MIB + 512 * i, 'activations', stack))
            for _ in range(2):
                run.release(run.alloc(300000 + 1000 * i, 'temporaries',
                                      run.stack('aten::softmax', module, ('model.py', 60))))
        result = run.alloc(400, 'outputs', run.stack('aten::sum', None, ('train.py', 7)))
        run.phase('forward', iteration)
        gradients = []
        for i in reversed(range(layers)):
            module = f'blocks.{i // 8}.layer{i % 8} (Linear)'
            stack = run.stack('LinearBackward0', module, ('model.py', 20 + i % 8))
            workspace = run.alloc(2 * MIB, 'workspaces', stack)
            gradients.append(run.alloc(weights[i][0], 'gradients', stack, weights[i][1]))
            run.release(workspace)
            run.release(saved.pop())
        run.phase('backward', iteration)
        for i, (size, _, name) in enumerate(weights):
            stack = run.stack('adamw', None, ('train.py', 9))
            if iteration == 0:
                for what in ('exp_avg', 'exp_avg_sq'):
                    state[name, what] = run.alloc(size, 'optimizer_state', stack,
                                                  run.tensor(f'{what} of {name}', 'f32', [size // 4]))
            run.release(run.alloc(size, 'temporaries', stack))
        run.phase('optimizer', iteration)
        for block in gradients + [result, batch]:
            run.release(block)
        if iteration == 1:
            run.alloc(700000, None, run.stack('aten::clone', None, ('train.py', 11)))
        run.phase('zero_grad', iteration)
        iteration += 1
    return run
