"""Hugging Face's Trainer: evaluation, early stopping, the best checkpoint"""

import sys
import tempfile

import torch
from torch import nn
from transformers import (
    EarlyStoppingCallback,
    PrinterCallback,
    Trainer,
    TrainingArguments,
)

device = sys.argv[1]
torch.manual_seed(0)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(6, 3)

    def forward(self, inputs, labels=None):
        logits = self.layer(inputs)
        return {"loss": nn.functional.cross_entropy(logits, labels), "logits": logits}


def samples(count):
    inputs = torch.randn(count, 6)
    return [{"inputs": row, "labels": row[:3].argmax()} for row in inputs]


with tempfile.TemporaryDirectory() as folder:
    arguments = TrainingArguments(
        folder, num_train_epochs=30, per_device_train_batch_size=16, learning_rate=0.3, optim="sgd",
        eval_strategy="epoch",
        save_strategy="epoch", load_best_model_at_end=True, metric_for_best_model="hits", logging_steps=4,
        use_cpu=device == "cpu", report_to=[], disable_tqdm=True, max_grad_norm=1.0, save_total_limit=2,
        dataloader_pin_memory=False,
    )  # fmt: skip
    trainer = Trainer(
        Model(), arguments, train_dataset=samples(64), eval_dataset=samples(40),
        compute_metrics=lambda p: {"hits": int((p.predictions.argmax(-1) == p.label_ids).sum())},
        callbacks=[EarlyStoppingCallback(3)],
    )  # fmt: skip
    trainer.remove_callback(PrinterCallback)
    trainer.train()
print("steps", trainer.state.global_step, "epochs", trainer.state.epoch, "best step", trainer.state.best_global_step)
print(
    "best hits",
    trainer.state.best_metric,
    "evaluations",
    sum("eval_hits" in entry for entry in trainer.state.log_history),
)
losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
print("losses logged", len(losses), "falling", losses[-1] < losses[0])
