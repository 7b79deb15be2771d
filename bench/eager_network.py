"""One evaluation of a U-Net in PyTorch, the reference of scripts/gpu.sh: same architecture, random weights, same GPU.

python3 bench/eager_network.py BATCH SECONDS [MODE...]; modes: fp32 tf32 bf16 bf16_channels_last compiled. JSON out:
milliseconds of each mode, or the first line of why it failed. The architecture is that of `--arch paper-256`.
"""
import json
import sys

import torch

from eager_unet import Options, UNet, milliseconds


def measure(mode, network, x, sigma, seconds):
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = mode == "tf32"
    format = torch.channels_last if mode in ("bf16_channels_last", "compiled") else torch.contiguous_format
    network, x = network.to(memory_format=format), x.to(memory_format=format)
    run = torch.compile(network) if mode == "compiled" else network
    with torch.no_grad(), torch.autocast("cuda", torch.bfloat16, enabled=mode not in ("fp32", "tf32")):
        return milliseconds(lambda: run(x, sigma) / sigma[:, None, None, None], seconds)


def main():
    batch, seconds = int(sys.argv[1]), float(sys.argv[2])
    modes = sys.argv[3:] or ["fp32", "tf32", "bf16", "bf16_channels_last", "compiled"]
    torch.manual_seed(1)
    torch.backends.cudnn.benchmark = True
    options = Options()
    network = UNet(options).cuda().eval()
    x = torch.rand(batch, 1, options.size, options.size, device="cuda") * 2 - 1
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
