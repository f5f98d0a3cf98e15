"""The models that are traced on the CPU and run: small ones, each of another kind, without weights from outside.

No layer is dropped as a whole, since a trace would have that layer dropped always or never. Libraries are imported when
a model is built: the table can be read without them.
"""

import dataclasses
import importlib
from collections.abc import Callable



@dataclasses.dataclass(frozen=True)
class Model:
    build: Callable  # gives the network
    inputs: tuple[str, ...]  # as torchmem's --input; B is the batch
    batch: int = 3  # of the run
    traced_batch: int = 2  # of the example that it is traced with
    quick: bool = False  # in the ordinary tests too
    # Asks for its input's device to make tensors there: "cpu" in the trace, which becomes "cuda:0".
    on_cuda: bool = False

    def specs(self, batch):
        return [spec.replace("B", str(batch)) for spec in self.inputs]


def images(size, channels=3):
    return (f"f32:Bx{channels}x{size}x{size}",)


def made(name, *arguments, **options):
    """What a class or function of a library gives."""
    module, _, name = name.rpartition(".")

    def build():
        return getattr(importlib.import_module(module), name)(*arguments, **options)

    return build


# torchvision


def resnet():
    from torchvision.models.resnet import Bottleneck, ResNet

    return ResNet(Bottleneck, [1, 1, 1, 1], num_classes=10, groups=4, width_per_group=4)


def swin(version):
    def build():
        from torchvision.models import swin_transformer as s

        second = dict(block=s.SwinTransformerBlockV2, downsample_layer=s.PatchMergingV2) if version == 2 else {}
        return s.SwinTransformer([4, 4], 24, [2, 2], [2, 4], [5 - version] * 2, num_classes=10, **second)

    return build


def swin3d():
    from torchvision.models.video.swin_transformer import PatchEmbed3d, SwinTransformer3d

    return SwinTransformer3d([2, 4, 4], 24, [2, 2], [2, 4], [4, 4, 4], num_classes=10, patch_embed=PatchEmbed3d)


def convnext():
    from torchvision.models.convnext import CNBlockConfig, ConvNeXt

    return ConvNeXt([CNBlockConfig(24, 48, 2), CNBlockConfig(48, None, 2)], 0.1, num_classes=10)


def efficientnet(*blocks):
    """Of blocks (1: MBConv, 2: FusedMBConv; its numbers)."""

    def build():
        from torchvision.models import efficientnet as e

        kinds = {1: e.MBConvConfig, 2: e.FusedMBConvConfig}
        return e.EfficientNet([kinds[kind](*numbers) for kind, *numbers in blocks], 0.2, num_classes=10,
                              last_channel=64)

    return build


def regnet():
    from torchvision.models.regnet import BlockParams, RegNet

    blocks = BlockParams.from_init_params(depth=7, w_0=16, w_a=16.0, w_m=2.2, group_width=8, se_ratio=0.25)
    return RegNet(blocks, num_classes=10, stem_width=16)


def densenet():
    from torchvision.models.densenet import DenseNet

    return DenseNet(8, (2, 3, 2), 16, drop_rate=0.1, num_classes=10)


def maxvit():
    from torchvision.models.maxvit import MaxVit

    return MaxVit(
        (64, 64), stem_channels=16, partition_size=4, block_channels=[16, 32], block_layers=[1, 2], head_dim=8,
        stochastic_depth_prob=0.2, num_classes=10,
    )  # fmt: skip


def video(conv):
    def build():
        from torch import nn
        from torchvision.models.video import resnet as r

        makers = {"r3d": r.Conv3DSimple, "mc3": r.Conv3DNoTemporal, "r2plus1d": r.Conv2Plus1D}
        stem = r.R2Plus1dStem if conv == "r2plus1d" else r.BasicStem
        network = r.VideoResNet(r.BasicBlock, [r.Conv3DSimple] + [makers[conv]] * 3, [1, 1, 1, 1], stem)
        network.layer3, network.layer4, network.fc = nn.Identity(), nn.Identity(), nn.Linear(128, 10)
        return network

    return build


def mvit():
    from torchvision.models.video.mvit import MSBlockConfig, MViT

    def block(heads, inside, outside, stride_q, stride_kv):
        return MSBlockConfig(heads, inside, outside, [3, 3, 3], [3, 3, 3], [1, *stride_q], [1, *stride_kv])

    blocks = [block(1, 16, 32, (1, 1), (4, 4)), block(2, 32, 32, (2, 2), (2, 2))]
    return MViT((32, 32), 8, blocks, True, True, True, True, stochastic_depth_prob=0.0, num_classes=10)


def segmentation(head):
    def build():
        from networks import First
        from torchvision.models import mobilenet_v3_small
        from torchvision.models._utils import IntermediateLayerGetter
        from torchvision.models.segmentation import deeplabv3, fcn, lraspp

        network = mobilenet_v3_small(width_mult=0.5).features
        taps = {"3": "low", "8": "high"} if head == "lraspp" else {"3": "aux", "8": "out"}
        body = IntermediateLayerGetter(network, taps)
        low, high = network[3].out_channels, network[8].out_channels
        if head == "lraspp":
            return First(lraspp.LRASPP(body, low, high, 5, 16), "out")
        if head == "fcn":
            return First(fcn.FCN(body, fcn.FCNHead(high, 5), fcn.FCNHead(low, 5)), "out")
        return First(deeplabv3.DeepLabV3(body, deeplabv3.DeepLabHead(high, 5, (2, 4))), "out")

    return build


def detector():
    from networks import Pyramid
    from torchvision.models import resnet
    from torchvision.models.detection.backbone_utils import BackboneWithFPN
    from torchvision.ops.feature_pyramid_network import LastLevelP6P7

    body = resnet.ResNet(resnet.BasicBlock, [1, 1, 1, 1])
    stages = {"layer1": "0", "layer2": "1", "layer3": "2"}
    return Pyramid(BackboneWithFPN(body, stages, [64, 128, 256], 32, LastLevelP6P7(32, 32)), 32, 3)


# timm


def timm(name, **options):
    def build():
        from timm import create_model

        return create_model(name, pretrained=False, num_classes=10, **options)

    return build


# transformers

TOKENS = dict(vocab_size=500, max_position_embeddings=64)
WIDE = dict(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128)
BOTH = dict(
    d_model=64, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
    encoder_ffn_dim=128,
    decoder_ffn_dim=128,
)  # fmt: skip
SPEECH = dict(
    WIDE, conv_dim=(32, 32, 32), conv_stride=(5, 4, 4), conv_kernel=(10, 8, 4), num_conv_pos_embeddings=16,
    vocab_size=32,
    num_conv_pos_embedding_groups=4, layerdrop=0.0, apply_spec_augment=False,
)  # fmt: skip
# A mask of four dimensions is taken as it is; of another or of none, one is made in a trace only.
IDS, MASK = "i64:Bx16:below=500", "bool:Bx1x16x16"
MASKED = {"input_ids": IDS, "attention_mask": MASK, "position_ids": "i64:Bx16:below=16"}
TRANSLATED = {"input_ids": IDS, "attention_mask": MASK, "decoder_input_ids": IDS, "decoder_attention_mask": MASK}
SHOWN = {"input_ids": IDS, "attention_mask": "i64:Bx16:ones"}
PIXELS = {"pixel_values": "f32:Bx3x32x32"}
SOUND = {"input_values": "f32:Bx1600"}
EAGER = dict(attn_implementation="eager")


def transformer(name, inputs, *, quick=False, on_cuda=False, **options):
    """A model of transformers, called with these inputs by name."""

    def build():
        import transformers
        from networks import Called

        kind = getattr(transformers, name)
        return Called(kind(kind.config_class(**options)), tuple(inputs))

    return Model(build, tuple(inputs.values()), quick=quick, on_cuda=on_cuda)


def decoder(name, inputs=MASKED, **options):
    return transformer(name, inputs, on_cuda=True, use_cache=False, **options)


CLIPS = ("f32:Bx3x4x32x32",)
MODELS = {
    # torchvision: classification
    "resnet": Model(resnet, images(64), quick=True),
    "vit": Model(made("torchvision.models.VisionTransformer", 32, 8, 2, 4, 64, 128, 0.1, num_classes=10), images(32),
                 quick=True),
    "swin": Model(swin(1), images(32), on_cuda=True, quick=True),
    "swin_v2": Model(swin(2), images(32), on_cuda=True),
    "maxvit": Model(maxvit, images(64), on_cuda=True),
    "convnext": Model(convnext, images(48), on_cuda=True),
    "efficientnet": Model(efficientnet((1, 1, 3, 1, 16, 16, 1), (1, 6, 5, 2, 16, 24, 2)), images(48), on_cuda=True),
    "efficientnet_v2": Model(efficientnet((2, 1, 3, 1, 16, 16, 1), (2, 4, 3, 2, 16, 24, 2)), images(48), on_cuda=True),
    "regnet": Model(regnet, images(64)),
    "mnasnet": Model(made("torchvision.models.MNASNet", 0.35, 10), images(64)),
    "mobilenet_v3": Model(made("torchvision.models.mobilenet_v3_small", width_mult=0.5, num_classes=10), images(64)),
    "shufflenet": Model(made("torchvision.models.ShuffleNetV2", [1, 2, 1], [16, 32, 48, 64, 128], 10), images(64)),
    "squeezenet": Model(made("torchvision.models.squeezenet1_1", num_classes=10), images(64)),
    "densenet": Model(densenet, images(64)),
    "googlenet": Model(made("torchvision.models.GoogLeNet", 10, aux_logits=False, init_weights=False), images(64)),
    # volumes and videos
    "r3d": Model(video("r3d"), CLIPS),
    "mc3": Model(video("mc3"), CLIPS),
    "r2plus1d": Model(video("r2plus1d"), CLIPS),
    "swin3d": Model(swin3d, ("f32:Bx3x8x32x32",), on_cuda=True),
    "mvit": Model(mvit, ("f32:Bx3x8x32x32",), on_cuda=True),
    "unet3d": Model(made("networks.Unet", 1, 8, 3), ("f32:Bx1x18x20x23",), quick=True),
    # segmentation, detection
    "unet": Model(made("networks.Unet", 3, 8, 2), ("f32:Bx3x45x50",)),
    "fcn": Model(segmentation("fcn"), images(64)),
    "deeplab": Model(segmentation("deeplab"), images(64)),
    "lraspp": Model(segmentation("lraspp"), images(64)),
    "detector": Model(detector, ("f32:Bx3x64x96",), quick=True),
    # timm
    "mixer": Model(made("timm.models.mlp_mixer.MlpMixer", 10, img_size=32, patch_size=8, num_blocks=2, embed_dim=64),
                   images(32)),
    "deit": Model(timm("deit_tiny_distilled_patch16_224", img_size=64, depth=2, embed_dim=48), images(64)),
    "beit": Model(timm("beit_base_patch16_224", img_size=64, depth=2, embed_dim=48, num_heads=3), images(64)),
    "eva": Model(timm("eva02_tiny_patch14_224", img_size=56, depth=2, embed_dim=48), images(56)),
    "cait": Model(timm("cait_xxs24_224", img_size=64, depth=2, embed_dim=48), images(64)),
    "xcit": Model(timm("xcit_nano_12_p16_224", img_size=64, depth=2, embed_dim=32, num_heads=4), images(64),
                  on_cuda=True),
    "pvt": Model(
        made("timm.models.pvt_v2.PyramidVisionTransformerV2", 3, 10, "avg", (1, 1, 1, 1), (8, 16, 32, 32),
             (1, 2, 4, 4)), images(64)
    ),
    "levit": Model(timm("levit_128s", img_size=128, embed_dim=(32, 48, 64), depth=(1, 1, 1), num_heads=(2, 3, 4)),
                   images(128)),
    "coat": Model(timm("coat_lite_tiny", img_size=64, embed_dims=(16, 32, 32, 32), serial_depths=(1, 1, 1, 1)),
                  images(64)),
    "twins": Model(
        timm("twins_svt_small", img_size=64, depths=(1, 2, 2, 1), embed_dims=(16, 32, 64, 64)), images(64), quick=True
    ),
    "mobilevit": Model(timm("mobilevit_xxs"), images(64)),
    "efficientformer": Model(timm("efficientformer_l1", depths=(1, 1, 1, 2), embed_dims=(16, 24, 32, 48)), images(224)),
    "davit": Model(timm("davit_tiny", depths=(1, 1), embed_dims=(16, 32), num_heads=(2, 4), window_size=4), images(60)),
    "focalnet": Model(made("timm.models.focalnet.FocalNet", 3, 10, embed_dim=16, depths=(1, 1, 1, 1)), images(64)),
    "nest": Model(made("timm.models.nest.Nest", 64, 3, 4, 3, (16, 32, 32), (2, 2, 2), (1, 1, 1), num_classes=10),
                  images(64)),
    "edgenext": Model(timm("edgenext_xx_small", depths=(1, 1, 2, 1), dims=(16, 24, 32, 48)), images(64), on_cuda=True),
    "volo": Model(
        made(
            "timm.models.volo.VOLO", (1, 1), 64, num_classes=10, embed_dims=(24, 48), num_heads=(2, 4),
            downsamples=(True, False),
            outlook_attention=(True, False), mlp_ratio=2, use_mix_token=False,
        ),  # fmt: skip
        images(64),
    ),
    # transformers: encoders
    "bert": transformer("BertForMaskedLM", MASKED, quick=True, **TOKENS, **WIDE),
    "roberta": transformer("RobertaForSequenceClassification", MASKED, on_cuda=True, **TOKENS, **WIDE),
    "albert": transformer("AlbertModel", MASKED, **TOKENS, **WIDE, embedding_size=32),
    "distilbert": transformer("DistilBertModel", MASKED, vocab_size=500, dim=64, n_layers=2, n_heads=4, hidden_dim=128),
    "electra": transformer("ElectraForTokenClassification", MASKED, **TOKENS, **WIDE, embedding_size=32),
    "mpnet": transformer("MPNetModel", MASKED, on_cuda=True, **TOKENS, **WIDE),
    "deberta": transformer(
        "DebertaV2Model", SHOWN, on_cuda=True, **TOKENS, **WIDE, relative_attention=True, pos_att_type=["p2c", "c2p"],
        position_buckets=8,
    ),  # fmt: skip
    # decoders, and encoders with decoders
    "gpt2": decoder("GPT2LMHeadModel", vocab_size=500, n_embd=64, n_layer=2, n_head=4),
    "opt": decoder("OPTForCausalLM", **TOKENS, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, ffn_dim=128),
    "gpt_neo": decoder(
        "GPTNeoForCausalLM", **TOKENS, hidden_size=64, num_layers=2, num_heads=4,
        attention_types=[[["global", "local"], 1]],
        window_size=8,
    ),  # fmt: skip
    "llama": decoder("LlamaForCausalLM", quick=True, **TOKENS, **WIDE, num_key_value_heads=2),
    "mpt": decoder("MptForCausalLM", SHOWN, vocab_size=500, d_model=64, n_layers=2, n_heads=4, expansion_ratio=2,
                   max_seq_len=64),
    "t5": decoder(
        "T5ForConditionalGeneration", TRANSLATED, vocab_size=500, d_model=64, d_kv=16, d_ff=128, num_layers=2,
        num_heads=4
    ),
    "bart": decoder("BartModel", TRANSLATED, **TOKENS, **BOTH),
    "whisper": decoder(
        "WhisperModel", {"input_features": "f32:Bx16x32", "decoder_input_ids": IDS}, **BOTH, vocab_size=500,
        num_mel_bins=16,
        max_source_positions=16, max_target_positions=32, pad_token_id=0, bos_token_id=1, eos_token_id=2,
        decoder_start_token_id=1,
    ),  # fmt: skip
    # pictures and sound
    "hf_vit": transformer("ViTModel", PIXELS, on_cuda=True, **WIDE, **EAGER, image_size=32, patch_size=8),
    "hf_swin": transformer(
        "SwinModel", PIXELS, on_cuda=True, image_size=32, patch_size=4, embed_dim=24, depths=[2, 2], num_heads=[2, 4],
        window_size=4
    ),
    "segformer": transformer(
        "SegformerForSemanticSegmentation", {"pixel_values": "f32:Bx3x64x64"}, on_cuda=True,
        hidden_sizes=[16, 32, 48, 64],
        depths=[1, 1, 1, 1], decoder_hidden_size=32,
    ),  # fmt: skip
    "wav2vec2": transformer("Wav2Vec2ForCTC", SOUND, on_cuda=True, **SPEECH, **EAGER),
    "hubert": transformer("HubertModel", SOUND, on_cuda=True, **SPEECH),
    "ast": transformer(
        "ASTForAudioClassification", {"input_values": "f32:Bx64x32"}, on_cuda=True, **WIDE, max_length=64,
        num_mel_bins=32
    ),
    # networks of our own
    "halves": Model(made("networks.Halves", 64), ("f32:Bx32x64",), quick=True),
    "windows": Model(made("networks.Windows", 64), ("f32:Bx128x64",)),
    "encoder": Model(made("networks.Encoder", 64, 4, 128, 2), ("f32:Bx24x64",), quick=True),
    "resized": Model(made("networks.Resized", 16), ("f32:Bx3x30x34",)),
    "super_resolution": Model(made("networks.SuperResolution"), ("f32:Bx3x30x33",)),
    "einsum": Model(made("networks.Einsum", 32, 4), ("f32:Bx10x12x32",)),
    "translator": Model(made("networks.Translator", 500, 64, 4), (IDS, "i64:Bx12:below=500")),
    "attention": Model(made("networks.Attention", 64, 4), ("f32:10xBx64", "f32:14xBx32")),
    "lstm": Model(made("networks.Lstm", 500, 32, 64), (IDS,), on_cuda=True, quick=True),
    "bilstm": Model(made("networks.BiLstm", 32, 64), ("f32:20xBx32",), on_cuda=True),
    "bigru": Model(made("networks.BiGru", 32, 64), ("f32:20xBx32",), on_cuda=True),
    "cells": Model(made("networks.Cells", 32, 64), ("f32:Bx6x32",)),
    "denoiser": Model(made("networks.Denoiser", 16), ("f32:Bx3x16x16", "f32:B")),
    "warp": Model(made("networks.Warp"), images(40)),
    "patches": Model(made("networks.Patches", 3, 4), images(32)),
    "tcn": Model(made("networks.Tcn", 16, 3), ("f32:Bx16x100",)),
    "recommender": Model(made("networks.Recommender", 500, 16, 4), ("f32:Bx13", "i64:Bx4x3:below=500"), on_cuda=True),
}
