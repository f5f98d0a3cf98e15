"""A training or inference program like many: three steps of one model. Prints, as one line of JSON, the caching
allocator's statistics after loading and after each part of a step.

    python3 model_program.py 'MODEL|BATCH|OPTIMIZER|MODE'

MODEL: tv:NAME (torchvision), timm:NAME, hf:NAME (transformers), or one of the small ones below. OPTIMIZER: sgd
(momentum 0.9), adamw, adam, adafactor, or none for inference. MODE: fp32, amp (bfloat16 autocast), bf16p (bfloat16
parameters), each with +cl for channels-last. It says nothing of torchmem and runs on any device: the recorded truth
comes from a real one.
"""

import contextlib
import json
import sys
import warnings

import torch
from torch import nn

COLUMNS = (
    "allocated_bytes.all.current",
    "allocated_bytes.all.peak",
    "reserved_bytes.all.current",
    "reserved_bytes.all.peak",
    "requested_bytes.all.current",
    "inactive_split_bytes.all.current",
)
STEPS = 3


class LanguageModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(10000, 512)
        self.layers = nn.LSTM(512, 1024, 2, batch_first=True, dropout=0.2)
        self.output = nn.Linear(1024, 10000)

    def forward(self, tokens):
        hidden, _ = self.layers(self.embedding(tokens))
        return self.output(hidden)


class SpeechModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.GRU(80, 256, 3, bidirectional=True)
        self.output = nn.Linear(512, 40)

    def forward(self, frames):
        hidden, _ = self.layers(frames)
        return self.output(hidden)


def volume_model():
    return nn.Sequential(
        nn.Conv3d(1, 16, 3, padding=1), nn.BatchNorm3d(16), nn.ReLU(True), nn.MaxPool3d(2),
        nn.Conv3d(16, 32, 3, padding=1), nn.BatchNorm3d(32), nn.ReLU(True),
        nn.ConvTranspose3d(32, 16, 2, 2), nn.Conv3d(16, 2, 1),
    )  # fmt: skip


def image_generator():
    return nn.Sequential(
        nn.ConvTranspose2d(100, 512, 4, 1, 0, bias=False), nn.BatchNorm2d(512), nn.ReLU(True),
        nn.ConvTranspose2d(512, 256, 4, 2, 1, bias=False), nn.BatchNorm2d(256), nn.ReLU(True),
        nn.ConvTranspose2d(256, 128, 4, 2, 1, bias=False), nn.BatchNorm2d(128), nn.ReLU(True),
        nn.ConvTranspose2d(128, 3, 4, 2, 1), nn.Tanh(),
    )  # fmt: skip


def transformer(name):
    import transformers as hf

    if name == "bert":
        return hf.BertForMaskedLM(hf.BertConfig())
    if name == "distilbert":
        return hf.DistilBertForMaskedLM(hf.DistilBertConfig())
    if name == "gpt2":
        return hf.GPT2LMHeadModel(hf.GPT2Config())
    if name == "t5":
        return hf.T5ForConditionalGeneration(
            hf.T5Config(d_model=512, d_kv=64, d_ff=2048, num_layers=6, num_heads=8, decoder_start_token_id=0)
        )
    if name == "llama":
        return hf.LlamaForCausalLM(
            hf.LlamaConfig(
                num_hidden_layers=8, hidden_size=1024, intermediate_size=2816, num_attention_heads=16,
                num_key_value_heads=4
            )
        )
    if name == "qwen3":
        return hf.Qwen3ForCausalLM(
            hf.Qwen3Config(
                num_hidden_layers=8, hidden_size=1024, intermediate_size=3072, num_attention_heads=16,
                num_key_value_heads=8, head_dim=128, vocab_size=50000,
            )  # fmt: skip
        )
    raise SystemExit(f"unknown transformer {name}")


def images(batch, size):
    return lambda: (torch.randn(batch, 3, size, size, device="cuda"),)


def build(name, batch):
    """The model, what makes a batch for it, and whether it computes its own loss."""
    library, _, rest = name.partition(":")
    if library == "tv":
        import torchvision

        return getattr(torchvision.models, rest)(), images(batch, 299 if "inception" in name else 224), False
    if library == "timm":
        import timm

        model = timm.create_model(rest)
        return model, images(batch, model.default_cfg["input_size"][-1]), False
    if library == "hf":
        model = transformer(rest)
        vocabulary = min(model.config.vocab_size, 30000)

        def tokens():
            ids = torch.randint(0, vocabulary, (batch, 256), device="cuda")
            return (ids,)

        return model, tokens, True
    if name == "lstm":
        return LanguageModel(), lambda: (torch.randint(0, 10000, (batch, 128), device="cuda"),), False
    if name == "gru":
        return SpeechModel(), lambda: (torch.randn(200, batch, 80, device="cuda"),), False
    if name == "unet3d":
        return volume_model(), lambda: (torch.randn(batch, 1, 64, 64, 64, device="cuda"),), False
    if name == "dcgan":
        return image_generator(), lambda: (torch.randn(batch, 100, 1, 1, device="cuda"),), False
    raise SystemExit(f"unknown model {name}")


OPTIMIZERS = {
    "sgd": lambda parameters: torch.optim.SGD(parameters, 1e-3, momentum=0.9),
    "adamw": lambda parameters: torch.optim.AdamW(parameters, 1e-3),
    "adam": lambda parameters: torch.optim.Adam(parameters, 1e-3),
    "adafactor": lambda parameters: torch.optim.Adafactor(parameters),
    "none": lambda parameters: None,
}


def main():
    warnings.filterwarnings("ignore")
    spec = sys.argv[1]
    name, batch_size, optimizer_name, mode = spec.split("|")
    torch.manual_seed(0)
    model, make_batch, has_loss = build(name, int(batch_size))
    model.train()
    channels_last = "cl" in mode
    if "bf16p" in mode:
        model = model.to(torch.bfloat16)
    model = model.cuda()
    if channels_last:
        model = model.to(memory_format=torch.channels_last)
    optimizer = OPTIMIZERS[optimizer_name](list(model.parameters()))
    rows = []

    def note(point):
        statistics = torch.cuda.memory_stats()
        rows.append([point] + [statistics[column] for column in COLUMNS])

    note("load")
    for step in range(STEPS):
        batch = make_batch()
        if channels_last:
            batch = tuple(part.to(memory_format=torch.channels_last) for part in batch)
        if "bf16p" in mode:
            batch = tuple(part.bfloat16() if part.is_floating_point() else part for part in batch)
        gradients = contextlib.nullcontext() if optimizer else torch.no_grad()
        precision = torch.autocast("cuda", torch.bfloat16) if "amp" in mode else contextlib.nullcontext()
        with gradients, precision:
            if has_loss:
                output = model(input_ids=batch[0], labels=batch[0])
                loss = output.loss
            else:
                output = model(*batch)
                output = output if torch.is_tensor(output) else output[0]
                loss = output.float().sum()
        note(f"fwd{step}")
        if optimizer:
            loss.backward()
            note(f"bwd{step}")
            optimizer.step()
            note(f"step{step}")
            optimizer.zero_grad()
        del output, loss, batch
        note(f"end{step}")
    torch.cuda.synchronize()
    print(json.dumps({"spec": spec, "device": torch.cuda.get_device_name(0), "rows": rows}))


main()
