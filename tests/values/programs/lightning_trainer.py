"""Lightning's Trainer: validation, early stopping, a checkpoint, clipping"""

import logging
import sys
import tempfile
import warnings

import pytorch_lightning as lightning
import torch
from pytorch_lightning.callbacks import EarlyStopping, ModelCheckpoint
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.simplefilter("ignore")
logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)
device = sys.argv[1]
torch.manual_seed(0)


class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(5, 2)

    def training_step(self, batch, number):
        loss = nn.functional.cross_entropy(self.layer(batch[0]), batch[1])
        self.log("loss", loss)
        return loss

    def validation_step(self, batch, number):
        self.log("hits", (self.layer(batch[0]).argmax(-1) == batch[1]).float().mean())

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=0.05)


inputs = torch.randn(96, 5)
data = TensorDataset(inputs, (inputs[:, 0] > 0).long())
with tempfile.TemporaryDirectory() as folder:
    best = ModelCheckpoint(folder, monitor="hits", mode="max")
    stop = EarlyStopping("hits", mode="max", patience=3, check_finite=True)
    trainer = lightning.Trainer(
        max_epochs=40, accelerator="cpu" if device == "cpu" else "gpu", devices=1, callbacks=[best, stop], logger=False,
        enable_progress_bar=False, enable_model_summary=False, gradient_clip_val=1.0, detect_anomaly=True,
    )  # fmt: skip
    trainer.fit(Model(), DataLoader(data, 16), DataLoader(data, 32))
    print("epochs", trainer.current_epoch, "steps", trainer.global_step, "stopped at", stop.stopped_epoch)
    print("best", best.best_model_path.rsplit("/")[-1], "hits", round(best.best_model_score.item(), 2))
    loaded = torch.load(best.best_model_path, map_location="cpu", weights_only=False)
    print("checkpoint", loaded["global_step"], [bool(v.any()) for v in loaded["state_dict"].values()])
