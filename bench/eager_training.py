"""One training step of a prior's network in PyTorch, eager, bfloat16 autocast: the reference of scripts/gpu.sh.

python3 bench/eager_training.py WEIGHTS.safetensors BATCH SECONDS; JSON out: milliseconds in both memory formats. What
`penumbra train` does: denoising with Karras's preconditioning, AdamW, gradients cut at norm 1, a moving average.
"""
import copy
import json
import math
import sys

import torch

from eager_unet import Options, UNet, milliseconds


def measure(options, batch, seconds, format):
    network = UNet(options).cuda().to(memory_format=format).train()
    average = copy.deepcopy(network)
    optimizer = torch.optim.AdamW(network.parameters(), lr=5e-4)
    images = torch.randint(0, 256, (4 * batch, 1, options.size, options.size), dtype=torch.uint8, device="cuda")
    spread = options.sigma_data

    def step():
        truth = images[torch.randint(0, len(images), (batch,), device="cuda")].float() / 127.5 - 1
        sigma = torch.exp(1.4 * torch.randn(batch, device="cuda") + math.log(0.24))
        s = sigma[:, None, None, None]
        noisy = (truth + s * torch.randn_like(truth)).contiguous(memory_format=format)
        total = s**2 + spread**2
        with torch.autocast("cuda", torch.bfloat16):
            out = network(noisy / total.sqrt(), sigma.log())
        wanted = (truth - spread**2 / total * noisy) * total.sqrt() / (s * spread)
        loss = (out.float() - wanted).square().mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        with torch.no_grad():
            torch._foreach_lerp_(list(average.parameters()), list(network.parameters()), 0.002)

    return milliseconds(step, seconds)


def main():
    path, batch, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    torch.manual_seed(1)
    torch.backends.cudnn.benchmark = True
    options = Options.of(path)
    found = {"weights": path, "batch": batch, "milliseconds": {}, "failed": {}}
    for mode, format in (("bf16", torch.contiguous_format), ("bf16_channels_last", torch.channels_last)):
        try:
            found["milliseconds"][mode] = measure(options, batch, seconds, format)
        except Exception as error:  # one mode's failure must not cost the other
            found["failed"][mode] = str(error).split("\n")[0]
        torch.cuda.empty_cache()
    print(json.dumps(found))


main()
