"""Two ranks of PyTorch that run NCCL's collectives and compare every byte (survey).

survey.py RANK PORT [LARGEST]     sizes from 8 B to LARGEST bytes, times 16; rank 0 prints a row for each operation and size
"""

import os
import statistics
import sys
import time

import torch
import torch.distributed as dist

rank, port = int(sys.argv[1]), sys.argv[2]
largest = int(sys.argv[3]) if len(sys.argv) > 3 else 16 << 20
rounds = int(os.environ.get("SURVEY_ROUNDS", "3"))
device = torch.device("cuda", rank % torch.cuda.device_count())
torch.cuda.set_device(device)
os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=port, RANK=str(rank), WORLD_SIZE="2")
started = time.monotonic()
dist.init_process_group("nccl")


def content(source, count, round):
    """What a rank sends: small numbers, so that sums are exact."""
    at = torch.arange(count, dtype=torch.float32, device=device)
    return (at * 7 + at // 251 + source * 131 + round * 29) % 509


def run(name, count, round):
    """Does one operation; returns its seconds, what came, and what should have come."""
    out = content(rank, count, round)
    both = [content(source, count, round) for source in range(2)]
    result = torch.zeros(count, device=device)
    double = torch.zeros(2 * count, device=device)
    wide = content(rank, 2 * count, round)
    torch.cuda.synchronize()
    start = time.monotonic()
    if name == "all_reduce":
        result.copy_(out)
        dist.all_reduce(result)
        come, expected = result, both[0] + both[1]
    elif name == "broadcast":
        result.copy_(out)
        dist.broadcast(result, 0)
        come, expected = result, both[0]
    elif name == "reduce":
        result.copy_(out)
        dist.reduce(result, 0)
        come, expected = (result, both[0] + both[1]) if rank == 0 else (out, out)
    elif name == "all_gather":
        dist.all_gather_into_tensor(double, out)
        come, expected = double, torch.cat(both)
    elif name == "reduce_scatter":
        dist.reduce_scatter_tensor(result, wide)
        whole = content(0, 2 * count, round) + content(1, 2 * count, round)
        come, expected = result, whole[rank * count : (rank + 1) * count]
    elif name == "all_to_all":
        dist.all_to_all_single(double, wide)
        halves = [content(source, 2 * count, round)[rank * count : (rank + 1) * count] for source in range(2)]
        come, expected = double, torch.cat(halves)
    else:
        if rank == 0:
            dist.send(out, 1)
            come, expected = out, out
        else:
            dist.recv(result, 0)
            come, expected = result, both[0]
    torch.cuda.synchronize()
    return time.monotonic() - start, come, expected


dist.all_reduce(torch.ones(1, device=device))
torch.cuda.synchronize()
if rank == 0:
    version = ".".join(map(str, torch.cuda.nccl.version()))
    print(f"0 | start of NCCL {version}, PyTorch {torch.__version__} | | {time.monotonic() - started:.1f} s |", flush=True)
wrong = 0
names = ["all_reduce", "broadcast", "reduce", "all_gather", "reduce_scatter", "all_to_all", "send and receive"]
sizes = [8 * 16**i for i in range(16) if 8 * 16**i < largest] + [largest]
for size in sizes:
    for name in names:
        times, failed = [], 0
        for round in range(rounds):
            seconds, come, expected = run(name, size // 4, round)
            times.append(seconds)
            failed += int((come != expected).sum())
        wrong += failed
        print(
            f"{rank} | {name} {size} B | {'WRONG' if failed else 'right'} | "
            f"{statistics.median(times) * 1e3:.2f} [{min(times) * 1e3:.2f}, {max(times) * 1e3:.2f}] ms |",
            flush=True,
        )
print(f"{rank} | wrong values | {wrong} | |", flush=True)
dist.destroy_process_group()
sys.exit(wrong != 0)
