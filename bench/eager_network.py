"""One evaluation of a U-Net in PyTorch, the reference of scripts/gpu.sh: same architecture, random weights, same GPU.

python3 bench/eager_network.py BATCH SECONDS [MODE...]; modes: fp32 tf32 bf16 bf16_channels_last compiled. JSON out:
milliseconds of each mode, or the first line of why it failed. The architecture is that of `--arch paper-256`; the
modules are PyTorch's own, put together as the paper's code does.
"""
import json
import math
import statistics
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

CHANNELS, MULTIPLES, ATTENTION, HEAD, SIZE = 128, (1, 1, 2, 2, 4, 4), (16, 8), 64, 256
WIDTH = 4 * CHANNELS


class Residual(nn.Module):
    def __init__(self, inside, out, step=None):
        super().__init__()
        self.step = step
        self.in_norm, self.in_conv = nn.GroupNorm(32, inside), nn.Conv2d(inside, out, 3, padding=1)
        self.embed = nn.Linear(WIDTH, 2 * out)
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
        return self.skip(x) + self.out_conv(F.silu(h))


class Attention(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm, self.heads = nn.GroupNorm(32, channels), channels // HEAD
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
    def __init__(self):
        super().__init__()
        self.register_buffer("frequency", torch.randn(CHANNELS))
        self.embed = nn.Sequential(nn.Linear(2 * CHANNELS, WIDTH), nn.SiLU(), nn.Linear(WIDTH, WIDTH))
        self.first = nn.Conv2d(1, CHANNELS, 3, padding=1)
        channels, factor, skips = CHANNELS, 1, [CHANNELS]
        down, up = [], []
        for level, multiple in enumerate(MULTIPLES):
            down.append([Residual(channels, multiple * CHANNELS)])
            channels = multiple * CHANNELS
            if factor in ATTENTION:
                down[-1].append(Attention(channels))
            skips.append(channels)
            if level + 1 < len(MULTIPLES):
                down.append([Residual(channels, channels, "down")])
                skips.append(channels)
                factor *= 2
        middle = [Residual(channels, channels), Attention(channels), Residual(channels, channels)]
        for level, multiple in reversed(list(enumerate(MULTIPLES))):
            for i in range(2):
                up.append([Residual(channels + skips.pop(), multiple * CHANNELS)])
                channels = multiple * CHANNELS
                if factor in ATTENTION:
                    up[-1].append(Attention(channels))
                if level > 0 and i == 1:
                    up[-1].append(Residual(channels, channels, "up"))
                    factor //= 2
        self.down = nn.ModuleList(nn.ModuleList(stage) for stage in down)
        self.middle = nn.ModuleList(middle)
        self.up = nn.ModuleList(nn.ModuleList(stage) for stage in up)
        self.norm, self.last = nn.GroupNorm(32, channels), nn.Conv2d(channels, 1, 3, padding=1)

    def forward(self, x, sigma):
        phase = 2 * math.pi * sigma[:, None] * self.frequency
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
        return self.last(F.silu(self.norm(h))) / sigma[:, None, None, None]


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


def measure(mode, network, x, sigma, seconds):
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = mode == "tf32"
    format = torch.channels_last if mode in ("bf16_channels_last", "compiled") else torch.contiguous_format
    network, x = network.to(memory_format=format), x.to(memory_format=format)
    run = torch.compile(network) if mode == "compiled" else network
    with torch.no_grad(), torch.autocast("cuda", torch.bfloat16, enabled=mode not in ("fp32", "tf32")):
        return milliseconds(lambda: run(x, sigma), seconds)


def main():
    batch, seconds = int(sys.argv[1]), float(sys.argv[2])
    modes = sys.argv[3:] or ["fp32", "tf32", "bf16", "bf16_channels_last", "compiled"]
    torch.manual_seed(1)
    torch.backends.cudnn.benchmark = True
    network = UNet().cuda().eval()
    x = torch.rand(batch, 1, SIZE, SIZE, device="cuda") * 2 - 1
    sigma = torch.full((batch,), 0.05, device="cuda")
    found = {
        "torch": torch.__version__,
        "device": torch.cuda.get_device_name(),
        "parameters": sum(p.numel() for p in network.parameters()) + network.frequency.numel(),
        "batch": batch,
        "milliseconds": {},
        "failed": {},
    }
    for mode in modes:
        try:
            found["milliseconds"][mode] = measure(mode, network, x, sigma, seconds)
        except Exception as error:  # one mode's failure must not cost the others
            found["failed"][mode] = str(error).split("\n")[0]
        torch.cuda.empty_cache()
    print(json.dumps(found))


main()
