"""The same APMC-PnP step as `penumbra bench --prior P`, in eager PyTorch: the reference of bench/eager.sh.

Reads a prior of Penumbra (safetensors) and runs its U-Net with PyTorch's own operations, float32, as a script would.
"""
import json
import math
import statistics
import struct
import sys
import time

import torch
from torch.nn import functional as F


def read_prior(path):
    raw = open(path, "rb").read()
    (length,) = struct.unpack("<Q", raw[:8])
    entries = json.loads(raw[8 : 8 + length])
    header = json.loads(entries.pop("__metadata__")["penumbra"])
    types = {"F16": torch.float16, "BF16": torch.bfloat16, "F32": torch.float32}
    weights = {}
    for name, entry in entries.items():
        begin, end = entry["data_offsets"]
        data = bytearray(raw[8 + length + begin : 8 + length + end])
        weights[name] = torch.frombuffer(data, dtype=types[entry["dtype"]]).float().reshape(entry["shape"])
    return header, weights


class UNet:
    """For the options that our priors use: residual up and down steps, scale-shift norm."""

    def __init__(self, header, weights):
        self.options, self.w = header["architecture"], weights
        self.sigma_data = header["parameterisation"]["sigma_data"]

    def conv(self, name, x):
        weight = self.w[name + ".weight"]
        return F.conv2d(x, weight, self.w[name + ".bias"], padding=weight.shape[2] // 2)

    def norm(self, name, x):
        return F.group_norm(x, 32, self.w[name + ".weight"], self.w[name + ".bias"])

    def linear(self, name, x):
        return F.linear(x, self.w[name + ".weight"], self.w[name + ".bias"])

    def residual(self, name, x, embedding, step=None):
        h = F.silu(self.norm(name + ".in_layers.0", x))
        if step == "down":
            h, x = F.avg_pool2d(h, 2), F.avg_pool2d(x, 2)
        if step == "up":
            h, x = F.interpolate(h, scale_factor=2), F.interpolate(x, scale_factor=2)
        h = self.conv(name + ".in_layers.2", h)
        scale, shift = self.linear(name + ".emb_layers.1", F.silu(embedding))[..., None, None].chunk(2, dim=1)
        h = self.norm(name + ".out_layers.0", h) * (1 + scale) + shift
        h = self.conv(name + ".out_layers.3", F.silu(h))
        return (self.conv(name + ".skip_connection", x) if name + ".skip_connection.weight" in self.w else x) + h

    def attention(self, name, x):
        n, c, height, width = x.shape
        heads = c // self.options["num_head_channels"]
        rows = x.reshape(n, c, -1)
        qkv = F.conv1d(self.norm(name + ".norm", rows), self.w[name + ".qkv.weight"], self.w[name + ".qkv.bias"])
        q, k, v = qkv.reshape(n * heads, 3 * c // heads, -1).chunk(3, dim=1)
        weight = torch.softmax(torch.einsum("bct,bcs->bts", q, k) / math.sqrt(c // heads), dim=-1)
        a = torch.einsum("bts,bcs->bct", weight, v).reshape(n, c, -1)
        h = F.conv1d(a, self.w[name + ".proj_out.weight"], self.w[name + ".proj_out.bias"])
        return (rows + h).reshape(n, c, height, width)

    def stage(self, name, x, embedding, step=None):
        if name + ".0.weight" in self.w:
            return self.conv(name + ".0", x)
        part = 0
        while True:
            here = f"{name}.{part}"
            if here + ".norm.weight" in self.w:
                x = self.attention(here, x)
            elif here + ".in_layers.0.weight" in self.w:
                last = f"{name}.{part + 1}.norm.weight" not in self.w and f"{name}.{part + 1}.in_layers.0.weight" not in self.w
                # A step up is the last of several blocks; a step down is alone in its stage.
                x = self.residual(here, x, embedding, step if last and (step == "down" or part > 0) else None)
            else:
                return x
            part += 1

    def __call__(self, x, condition):
        phase = 2 * math.pi * condition[:, None] * self.w["fourier_proj.W"]
        features = torch.cat([phase.sin(), phase.cos()], dim=1)
        embedding = self.linear("auxil_embed.2", F.silu(self.linear("auxil_embed.0", features)))
        blocks, levels = self.options["num_res_blocks"], len(self.options["channel_mult"])
        h, skips, number = self.stage("input_blocks.0", x, embedding), [], 0
        skips.append(h)
        for level in range(levels):
            for i in range(blocks + (level + 1 < levels)):
                number += 1
                h = self.stage(f"input_blocks.{number}", h, embedding, "down" if i == blocks else None)
                skips.append(h)
        h = self.stage("middle_block", h, embedding)
        for number in range(levels * (blocks + 1)):
            level, i = levels - 1 - number // (blocks + 1), number % (blocks + 1)
            h = torch.cat([h, skips.pop()], dim=1)
            h = self.stage(f"output_blocks.{number}", h, embedding, "up" if level > 0 and i == blocks else None)
        return self.conv("out.2", F.silu(self.norm("out.0", h)))

    def score(self, x, sigma):
        sigmas = torch.full((x.shape[0],), sigma)
        total = sigma**2 + self.sigma_data**2
        out = self(x / math.sqrt(total), sigmas.log())
        return (self.sigma_data * math.sqrt(total) / sigma * out - x) / total


def main():
    path, chains, seconds, threads = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    header, weights = read_prior(path)
    network = UNet(header, weights)
    x = torch.rand([chains] + header["image_shape"]) * 2 - 1
    mask = (torch.rand(header["image_shape"]) < 0.3).float()
    y = mask * x[0]
    gamma, sigma, noise = 1e-4, 0.05, 0.1

    def step():
        z = x - gamma * mask * (mask * x - y) / noise**2
        return z + gamma * network.score(z, sigma) + math.sqrt(2 * gamma) * torch.randn_like(x)

    times = []
    with torch.no_grad():
        step()
        while sum(times) < seconds or len(times) < 5:
            begin = time.perf_counter()
            step()
            times.append(time.perf_counter() - begin)
        # For a check that both compute the same function.
        probe = torch.linspace(-1, 1, x[0].numel()).reshape([1] + header["image_shape"])
        norm = network.score(probe, 0.3).double().norm().item()
    print(json.dumps({"milliseconds": 1000 * statistics.median(times), "score_norm": norm, "torch": torch.__version__}))


main()
