package dev.doorbell.verbs;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.hca.Hca;
import dev.doorbell.core.hca.HcaAttributes;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.hca.ProtectionDomain;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.MemoryProvider;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.mlx5.prm.Capabilities;
import dev.doorbell.verbs.device.DeviceFilter;
import dev.doorbell.verbs.devx.DevxDevice;
import dev.doorbell.verbs.devx.DevxDomain;
import dev.doorbell.verbs.devx.OnChip;
import java.util.ArrayList;
import java.util.List;

/**
 * A real mlx5 device. Completion queues and queue pairs are created by firmware commands (DEVX), so
 * that their rings and doorbell records lie where the caller places them, also in GPU memory, and a
 * kernel posts to them itself; the host only creates, connects and closes them.
 *
 * <p>Doorbells: a GPU maps the device's register ({@link
 * dev.doorbell.core.hca.QueuePair#deviceRegisterAddress}); threads of the fabric store to a
 * stand-in page.
 */
public final class Mlx5Hca implements Hca {
  private static final int SMALLEST_RING = 16;
  private static final int LARGEST_INLINE = 4 * SendQueue.BLOCK - 3 * SendQueue.UNIT - 4;
  private static final long LARGEST_MESSAGE = 1L << 30;
  private static final int READS_AND_ATOMICS = 16;
  private static final int LARGEST_COMPLETION_QUEUE = 22;

  private final Fabric fabric;
  private final Locus locus;
  private final Agent agent = budget -> 0;
  private final DevxDevice device;
  private final List<DevxDomain> domains = new ArrayList<>();
  private final HcaAttributes attributes;
  private boolean closed;

  /**
   * Opens a device and posts one NOP on a queue pair that is connected to itself, which shows that
   * rings, doorbells and completions work.
   *
   * @param fabric whose threads ring doorbells
   * @param nic locus of the device and of the stand-in for its doorbell page
   * @param filter the devices and ports that may be used; the first active one is opened
   * @param gidIndex place in the port's GID table, or -1 to choose
   * @param memory for the self-test: host memory of this machine
   * @throws HcaException if there is no device, naming which of the four causes it is, or if a step
   *     of opening it fails, naming what is missing
   */
  public Mlx5Hca(
      Fabric fabric, Locus nic, DeviceFilter filter, int gidIndex, MemoryProvider memory) {
    this.fabric = fabric;
    this.locus = nic;
    DevicePort port = fabric.attachDevice(nic, agent);
    try {
      this.device = new DevxDevice(fabric, port, nic, filter, gidIndex);
    } catch (RuntimeException e) {
      fabric.detach(agent);
      throw e;
    }
    this.attributes = attributes(device);
    try {
      SelfTest.run(this, memory);
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  @Override
  public String name() {
    return device.context.name;
  }

  /** One line for the beginning of a run: port, link, MTU, GID and why it was chosen, doorbells. */
  public String describe() {
    return "%s, queues by DEVX, doorbell page %s"
        .formatted(device.context.describe(), device.doorbells.kind());
  }

  @Override
  public HcaAttributes attributes() {
    return attributes;
  }

  private static HcaAttributes attributes(DevxDevice device) {
    Capabilities capabilities = device.capabilities;
    int logQueue = capabilities.logLargestQueue();
    int logCompletions = capabilities.logLargestCompletionQueue();
    return new HcaAttributes(
        device.context.maxQueuePairs,
        logQueue == 0 ? SendQueue.MAX_BLOCKS : Math.min(SendQueue.MAX_BLOCKS, 1 << logQueue),
        SMALLEST_RING,
        1
            << (logCompletions == 0
                ? LARGEST_COMPLETION_QUEUE
                : Math.min(LARGEST_COMPLETION_QUEUE, logCompletions)),
        LARGEST_INLINE,
        OnChip.available(device.context),
        capabilities.blueFlameBytes(),
        LARGEST_MESSAGE,
        READS_AND_ATOMICS);
  }

  @Override
  public ProtectionDomain allocateProtectionDomain() {
    if (closed) {
      throw new HcaException("cannot allocate a protection domain: %s is closed".formatted(name()));
    }
    DevxDomain domain = new DevxDomain(this, device, domains::remove);
    domains.add(domain);
    return domain;
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    List.copyOf(domains).reversed().forEach(DevxDomain::closeAll);
    closed = true;
    try {
      device.close();
    } finally {
      fabric.detach(agent);
    }
  }

  @Override
  public String toString() {
    return "HCA '%s' at %s".formatted(name(), locus);
  }
}
