package dev.doorbell.benchmarks;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.MmioTarget;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.Doorbell;
import dev.doorbell.core.mlx5.Opcode;

/**
 * A device that takes a doorbell and says at once that everything before it is done, into a
 * collapsed completion queue. It moves nothing, so that a benchmark of posting times the poster
 * alone.
 */
final class InstantHca implements Agent, MmioTarget {
  private static final int NOTHING = -1;

  private final long completion;
  private final int qpn;
  private final long register;
  private int rung = NOTHING;

  InstantHca(Fabric fabric, long completion, int qpn) {
    this.completion = completion;
    this.qpn = qpn;
    Locus locus = Locus.nic(0, 1);
    Allocation page =
        fabric.memory().allocate(MemoryKind.UAR, locus, Doorbell.UAR_BYTES, "doorbell page");
    fabric.attachDevice(locus, this).onMmio(page.address(), this);
    this.register = page.address() + Doorbell.REGISTER_OFFSET;
  }

  /** The address of the doorbell register. */
  long register() {
    return register;
  }

  @Override
  public void mmioWrite(long address, long source, int bytes) {
    rung = Doorbell.index(Doorbell.read(source));
  }

  @Override
  public int step(int budget) {
    if (rung == NOTHING) {
      return 0;
    }
    Cqe.writeRequester(completion, Opcode.RDMA_WRITE, qpn, rung - 1, 0, 0, 0);
    rung = NOTHING;
    return 1;
  }
}
