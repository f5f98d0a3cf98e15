# What a program is saving as it copies a tensor to the host: `saves(frame, address)` is a sentence's part such as
# 'torch.save writes a state_dict of 62 tensors with 320.0 MiB of this device, "fc.weight" among them', or None where
# no function that writes files is at work. The total counts what lies on the device, held or not.
import sys

# By the end of the file's name: the function, its variable that holds what is saved, and how people call it.
WRITERS = {
    'torch/serialization.py': ('save', 'obj', 'torch.save'),
    'safetensors/torch.py': ('save_file', 'tensors', 'safetensors.torch.save_file'),
}
MOST_TENSORS = 100_000  # looked at


def writer_of(frame):
    while frame is not None:
        for file, (function, variable, name) in WRITERS.items():
            if frame.f_code.co_name == function and frame.f_code.co_filename.replace('\\', '/').endswith(file):
                return name, frame.f_locals.get(variable)
        frame = frame.f_back
    return None


def items_of(what):
    if isinstance(what, dict):
        return list(what.items())
    if isinstance(what, (list, tuple)):
        return list(enumerate(what))
    if isinstance(what, sys.modules['torch'].nn.Module):
        return [*what.named_parameters(), *what.named_buffers()]
    return []


def tensors_of(what):
    """Pairs of path and tensor; a container that was seen is not looked into again."""
    torch = sys.modules['torch']
    seen = set()
    left = [((), what)]
    found = []
    while left and len(found) < MOST_TENSORS:
        path, one = left.pop()
        if isinstance(one, torch.Tensor):
            found.append((path, one))
        elif id(one) not in seen:
            seen.add(id(one))
            left.extend((path + (key,), value) for key, value in items_of(one))
    return found


def kind_of(what):
    torch = sys.modules['torch']
    if isinstance(what, torch.nn.Module):
        return f'a {type(what).__name__}'
    if isinstance(what, dict) and what and all(isinstance(value, torch.Tensor) for value in what.values()):
        return 'a state_dict'
    return f'a {type(what).__name__}'


def place_in(path):
    if not path:
        return None
    if len(path) == 1:
        return f'"{path[0]}"'
    return ''.join(f'[{key!r}]' for key in path)


def saves(frame, address):
    writer = writer_of(frame)
    if writer is None:
        return None
    name, what = writer
    storages = {}
    this = None
    tensors = [(path, tensor) for path, tensor in tensors_of(what) if tensor.device.type == 'cuda']
    for path, tensor in tensors:
        storage = tensor.untyped_storage()
        start = storage.data_ptr()
        storages[start] = storage.nbytes()
        if this is None and start <= address < start + storage.nbytes():
            this = place_in(path)
    text = f'{name} writes {kind_of(what)}'
    if tensors:
        count = f'{len(tensors)} tensor{"s" if len(tensors) > 1 else ""}'
        text += f' of {count} with {sum(storages.values()) / 2**20:.1f} MiB of this device'
    return text if this is None else f'{text}, {this} among them'
