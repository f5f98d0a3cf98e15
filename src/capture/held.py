# What a program holds, as lines "TENSOR CATEGORY NAME": the address of the tensor's C++ object, a category of
# memory, and a name or nothing.
import gc
import sys
import time

CO_OPTIMIZED = 1  # of a code object: a function's, whose locals are no dictionary
COSTLIEST = 0.02  # of the program's time that looking for modules may take

last_look = None  # when it ended, and what it took


def on_device(tensor):
    return tensor is not None and tensor.device.type == 'cuda'


def modules_held():
    """The modules that are in no other one, each with the tensors that it and those within it hold, by name."""
    Module = sys.modules['torch'].nn.Module
    modules = [one for one in gc.get_objects() if issubclass(type(one), Module)]
    inner = set()
    for module in modules:
        inner.update(id(child) for child in module.children())
    for root in modules:
        if id(root) in inner:
            continue
        held = []
        for path, module in root.named_modules():
            prefix = path + '.' if path else ''
            held += [(parameter, 'parameters', prefix + name)
                     for name, parameter in module.named_parameters(recurse=False)]
            held += [(buffer, 'buffers', prefix + name) for name, buffer in module.named_buffers(recurse=False)]
        held = [one for one in held if on_device(one[0])]
        if held:
            yield root, held


def lines_of(held):
    return ''.join(f'{tensor._cdata} {category} {name}\n' for tensor, category, name in held)


def all_that_modules_hold():
    roots = list(modules_held())
    names = [name for root, held in roots for _, _, name in held]
    if len(set(names)) < len(names):  # two models, say
        roots = [(root, [(tensor, category, f'{type(root).__name__}.{name}') for tensor, category, name in held])
                 for root, held in roots]
    return lines_of(one for root, held in roots for one in held)


def held(tensor):
    """For a tensor that an operator uses: what all modules hold, if it is a module's; nothing if it is not."""
    global last_look
    torch = sys.modules['torch']
    with torch._C.DisableTorchFunction():
        if not isinstance(tensor, torch.nn.Parameter):
            return None
        own = f'{tensor._cdata} parameters \n'
        begin = time.monotonic()
        if last_look is not None and last_look[1] > COSTLIEST * (begin - last_look[0]):
            return own
        try:
            return all_that_modules_hold() + own
        finally:
            last_look = (time.monotonic(), time.monotonic() - begin)


def locals_of(frame):
    return list(frame.f_locals.values())


def tensors_in(values, Tensor):
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif type(value) in (list, tuple):
            yield from (one for one in value if isinstance(one, Tensor))
        elif type(value) is dict:
            yield from (one for one in value.values() if isinstance(one, Tensor))


def held_by_the_failure():
    """What the functions from the first module's call on hold, which the exception that ended the program left."""
    torch = sys.modules['torch']
    error = getattr(sys, 'last_value', None)
    if not isinstance(error, torch.OutOfMemoryError):
        return ''
    frames = []
    trace = error.__traceback__
    while trace is not None:
        frames.append(trace.tb_frame)
        trace = trace.tb_next
    is_call = [frame.f_code.co_flags & CO_OPTIMIZED and isinstance(frame.f_locals.get('self'), torch.nn.Module)
               for frame in frames]
    first = is_call.index(True) if True in is_call else len(frames)
    around = {one._cdata for frame in frames[:first] for one in tensors_in(locals_of(frame), torch.Tensor)}
    within = [one for frame in frames[first:] for one in tensors_in(locals_of(frame), torch.Tensor)]
    return lines_of((one, 'temporaries', '') for one in within if on_device(one) and one._cdata not in around)


def held_at_exit():
    with sys.modules['torch']._C.DisableTorchFunction():
        return all_that_modules_hold() + held_by_the_failure()


def call_at_exit(function):
    """`function` is the address of a C function without arguments."""
    import atexit
    import ctypes
    atexit.register(ctypes.CFUNCTYPE(None)(function))
