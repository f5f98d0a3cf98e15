"""The models of parity/data/traced_h200.json. All are traced in eval mode, whichever mode they are run in."""

from models import IDS, Model, images, made


def bert():
    """Makes its mask on the device that it is traced on."""
    import transformers
    from networks import Called

    config = transformers.BertConfig(num_hidden_layers=4, vocab_size=8000)
    return Called(transformers.BertForMaskedLM(config), ("input_ids",))


RECORDED = {
    "vit_b_16": Model(made("torchvision.models.vit_b_16"), images(224)),
    "swin_t": Model(made("torchvision.models.swin_t"), images(224)),
    "bert": Model(bert, (IDS,)),
    "halves": Model(made("networks.Halves", 512), ("f32:Bx8x512",)),
    "windows": Model(made("networks.Windows", 128), ("f32:Bx64x128",)),
    "encoder": Model(made("networks.Encoder", 256, 8, 512, 3), ("f32:Bx16x256",)),
    "interp": Model(made("networks.Resized", 16), ("f32:Bx3x32x32",)),
    "unet2": Model(made("networks.Diffusion", 64), ("f32:Bx4x64x64",)),
}
