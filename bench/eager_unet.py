"""The U-Net of the paper's code in PyTorch's own modules, and how it is timed: the reference of scripts/gpu.sh."""
import dataclasses
import json
import math
import statistics
import struct
import time

import torch
from torch import nn
from torch.nn import functional as F


@dataclasses.dataclass(frozen=True)
class Options:
    """The paper's network for 256x256 pixels."""
    channels: int = 128
    multiples: tuple = (1, 1, 2, 2, 4, 4)
    attention: tuple = (16, 8)
    head: int = 64
    size: int = 256
    dropout: float = 0.0
    sigma_data: float = 0.5

    @staticmethod
    def of(path):
        """Those of a prior's weights, by the header of the file."""
        with open(path, "rb") as file:
            length = struct.unpack("<Q", file.read(8))[0]
            header = json.loads(json.loads(file.read(length))["__metadata__"]["penumbra"])
        network = header["architecture"]
        return Options(network["model_channels"], tuple(network["channel_mult"]),
                       tuple(network["attention_resolutions"]), network["num_head_channels"],
                       header["image_shape"][1], network["dropout"], header["parameterisation"]["sigma_data"])


class Residual(nn.Module):
    def __init__(self, options, inside, out, step=None):
        super().__init__()
        self.step = step
        self.in_norm, self.in_conv = nn.GroupNorm(32, inside), nn.Conv2d(inside, out, 3, padding=1)
        self.embed = nn.Linear(4 * options.channels, 2 * out)
        self.drop = nn.Dropout(options.dropout)
        self.out_norm, self.out_conv = nn.GroupNorm(32, out), nn.Conv2d(out, out, 3, padding=1)
        self.skip = nn.Identity() if inside == out else nn.Conv2d(inside, out, 1)

    def forward(self, x, embedding):
        h = F.silu(self.in_norm(x))
        if self.step == "down":
            h, x = F.avg_pool2d(h, 2), F.avg_pool2d(x, 2)
        if self.step == "up":
            h, x = F.interpolate(h, scale_factor=2), F.interpolate(x, scale_factor=2)
        h = self.in_conv(h)
        scale, shift = self.embed(F.silu(embedding))[..., None, None].chunk(2, dim=1)
        h = self.out_norm(h) * (1 + scale) + shift
        return self.skip(x) + self.out_conv(self.drop(F.silu(h)))


class Attention(nn.Module):
    def __init__(self, options, channels):
        super().__init__()
        self.norm, self.heads = nn.GroupNorm(32, channels), channels // options.head
        self.qkv, self.out = nn.Conv1d(channels, 3 * channels, 1), nn.Conv1d(channels, channels, 1)

    def forward(self, x, embedding):
        n, c, height, width = x.shape
        rows = x.reshape(n, c, -1)
        q, k, v = self.qkv(self.norm(rows)).reshape(n * self.heads, 3 * c // self.heads, -1).chunk(3, dim=1)
        scale = 1 / math.sqrt(math.sqrt(c // self.heads))
        weight = torch.einsum("bct,bcs->bts", q * scale, k * scale)
        weight = torch.softmax(weight.float(), dim=-1).type(weight.dtype)
        a = torch.einsum("bts,bcs->bct", weight, v).reshape(n, c, -1)
        return (rows + self.out(a)).reshape(n, c, height, width)


class UNet(nn.Module):
    def __init__(self, options):
        super().__init__()
        base, width = options.channels, 4 * options.channels
        levels = [int(multiple * base) for multiple in options.multiples]
        self.register_buffer("frequency", torch.randn(base))
        self.embed = nn.Sequential(nn.Linear(2 * base, width), nn.SiLU(), nn.Linear(width, width))
        self.first = nn.Conv2d(1, base, 3, padding=1)
        channels, factor, skips = base, 1, [base]
        down, up = [], []
        for level, wanted in enumerate(levels):
            down.append([Residual(options, channels, wanted)])
            channels = wanted
            if factor in options.attention:
                down[-1].append(Attention(options, channels))
            skips.append(channels)
            if level + 1 < len(levels):
                down.append([Residual(options, channels, channels, "down")])
                skips.append(channels)
                factor *= 2
        middle = [Residual(options, channels, channels), Attention(options, channels),
                  Residual(options, channels, channels)]
        for level, wanted in reversed(list(enumerate(levels))):
            for i in range(2):
                up.append([Residual(options, channels + skips.pop(), wanted)])
                channels = wanted
                if factor in options.attention:
                    up[-1].append(Attention(options, channels))
                if level > 0 and i == 1:
                    up[-1].append(Residual(options, channels, channels, "up"))
                    factor //= 2
        self.down = nn.ModuleList(nn.ModuleList(stage) for stage in down)
        self.middle = nn.ModuleList(middle)
        self.up = nn.ModuleList(nn.ModuleList(stage) for stage in up)
        self.norm, self.last = nn.GroupNorm(32, channels), nn.Conv2d(channels, 1, 3, padding=1)

    def forward(self, x, condition):
        phase = 2 * math.pi * condition[:, None] * self.frequency
        embedding = self.embed(torch.cat([phase.sin(), phase.cos()], dim=1))
        h = self.first(x)
        skips = [h]
        for stage in self.down:
            for layer in stage:
                h = layer(h, embedding)
            skips.append(h)
        for layer in self.middle:
            h = layer(h, embedding)
        for stage in self.up:
            h = torch.cat([h, skips.pop()], dim=1)
            for layer in stage:
                h = layer(h, embedding)
        return self.last(F.silu(self.norm(h)))


def milliseconds(work, seconds):
    """Median over groups of four calls with one wait each, as `penumbra bench` measures."""
    for _ in range(3):
        work()
    torch.cuda.synchronize()
    times = []
    while sum(times) < seconds or len(times) < 5:
        begin = time.perf_counter()
        for _ in range(4):
            work()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
    return 1000 * statistics.median(times) / 4
