package dev.doorbell.benchmarks;

import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.hca.CompletionQueue;
import dev.doorbell.core.hca.CompletionQueueAttributes;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.hca.ProtectionDomain;
import dev.doorbell.core.hca.QueuePair;
import dev.doorbell.core.hca.QueuePairAttributes;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.ptxvm.launch.VmGpu;
import dev.doorbell.softhca.SoftHca;
import dev.doorbell.softhca.device.SoftHcaOptions;
import dev.doorbell.softhca.wire.InProcessWire;
import java.util.EnumSet;
import java.util.Set;

/** Two ranks in one fabric that runs as fast as it can, connected by one queue pair. */
final class Pair implements AutoCloseable {
  static final Set<AccessRight> RIGHTS =
      EnumSet.of(
          AccessRight.LOCAL_WRITE,
          AccessRight.REMOTE_WRITE,
          AccessRight.REMOTE_READ,
          AccessRight.REMOTE_ATOMIC);

  /**
   * Depth of the send queue, for as much in flight as a sweep over a thousand threads posts: the
   * peer answers in its own turn, once a sweep, and a poster that waits for room costs
   * instructions.
   */
  private static final SoftHcaOptions DEEP =
      SoftHcaOptions.DEFAULT.withEngine(new SoftHcaOptions.Engine(4096, 8192, 64, 16384));

  final DirectFabric fabric = new DirectFabric();
  final VmGpu gpu = new VmGpu(fabric, Locus.gpu(0, 0));
  final SoftHca sender = new SoftHca(fabric, Locus.nic(0, 0), "sender", DEEP);
  final SoftHca receiver = new SoftHca(fabric, Locus.nic(1, 0), "receiver", DEEP);
  final CompletionQueue completions;
  final QueuePair queuePair;
  final Memory source;
  final Memory target;
  final MemoryRegion sourceRegion;
  final MemoryRegion targetRegion;

  Pair(int blocks, int bytes, boolean collapsed) {
    InProcessWire wire = new InProcessWire();
    wire.join(sender);
    wire.join(receiver);
    ProtectionDomain here = sender.allocateProtectionDomain();
    ProtectionDomain there = receiver.allocateProtectionDomain();
    completions =
        here.createCompletionQueue(
            new CompletionQueueAttributes(
                collapsed ? 1 : blocks, collapsed, true, MemoryKind.DEVICE, MemoryKind.DEVICE),
            gpu);
    CompletionQueue unused =
        there.createCompletionQueue(CompletionQueueAttributes.collapsed(MemoryKind.DEVICE), gpu);
    queuePair =
        here.createQueuePair(
            new QueuePairAttributes(
                blocks, 0, completions, null, MemoryKind.DEVICE, MemoryKind.DEVICE),
            gpu);
    QueuePair peer =
        there.createQueuePair(
            new QueuePairAttributes(16, 0, unused, null, MemoryKind.DEVICE, MemoryKind.DEVICE),
            gpu);
    queuePair.connect(peer.address(), RIGHTS, ConnectionAttributes.DEFAULT);
    peer.connect(queuePair.address(), RIGHTS, ConnectionAttributes.DEFAULT);
    source = gpu.allocate(MemoryKind.DEVICE, bytes, "source");
    target = gpu.allocate(MemoryKind.DEVICE, bytes, "target");
    sourceRegion = here.register(source, RIGHTS);
    targetRegion = there.register(target, RIGHTS);
  }

  @Override
  public void close() {
    sender.close();
    receiver.close();
    gpu.close();
    fabric.close();
  }
}
