package dev.doorbell.verbs;

import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.hca.Hca;
import dev.doorbell.core.hca.HcaAttributes;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.hca.ProtectionDomain;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.verbs.device.DeviceContext;
import dev.doorbell.verbs.device.DeviceFilter;
import dev.doorbell.verbs.device.VerbsDomain;
import dev.doorbell.verbs.posted.PostedDevice;
import dev.doorbell.verbs.posted.PostedDomain;
import dev.doorbell.verbs.posted.PostingEngine;
import java.util.ArrayList;
import java.util.List;

/**
 * Any RC device of libibverbs: Soft-RoCE, or mlx5 without DEVX.
 *
 * <p>Posters write mlx5 WQEs and ring doorbells as for every {@link Hca}. This one is an agent of a
 * {@link Fabric}: when it is stepped, it reads the WQEs up to the doorbell record, posts each by
 * {@code ibv_post_send}, polls by {@code ibv_poll_cq}, and writes mlx5 CQEs. That costs about one
 * system call per request, which suits proxies and comparisons, not a GPU at full speed. Queues
 * must lie where the CPU can read them.
 *
 * <p>Masked atomics and WAIT, which libibverbs lacks, fail with a local QP operation error. A NOP
 * is posted as a WRITE of no bytes.
 */
public final class VerbsHca implements Hca {
  private static final int MAX_INLINE_BYTES = 512;
  private static final long MAX_MESSAGE_BYTES = 1L << 30;
  private static final int LARGEST_RING = 1 << 15;

  private final Fabric fabric;
  private final PostingEngine engine;
  private final PostedDevice device;
  private final List<VerbsDomain> domains = new ArrayList<>();
  private boolean closed;

  /**
   * Opens a device.
   *
   * @param fabric steps the HCA and delivers doorbells to it
   * @param nic locus of the HCA and of its doorbell pages
   * @param filter the devices and ports that may be used; the first active one is opened
   * @param gidIndex place in the port's GID table, or -1 to choose
   * @throws HcaException if there is no device, naming which of the four causes it is
   */
  public VerbsHca(Fabric fabric, Locus nic, DeviceFilter filter, int gidIndex) {
    this.fabric = fabric;
    DeviceContext context = DeviceContext.open(filter, DeviceContext.Kind.ANY, gidIndex);
    this.engine = new PostingEngine("HCA '%s' at %s".formatted(context.name, nic));
    DevicePort port = fabric.attachDevice(nic, engine);
    this.device = new PostedDevice(context, fabric, port, nic, engine::onDoorbell);
  }

  @Override
  public String name() {
    return device.context.name;
  }

  /** One line for the beginning of a run: port, link, MTU, GID and why it was chosen. */
  public String describe() {
    return device.context.describe() + ", by ibv_post_send";
  }

  @Override
  public HcaAttributes attributes() {
    DeviceContext context = device.context;
    return new HcaAttributes(
        context.maxQueuePairs,
        Math.min(LARGEST_RING, Integer.highestOneBit(context.maxWorkRequests)),
        1,
        Integer.highestOneBit(context.maxCompletions),
        MAX_INLINE_BYTES,
        0,
        0,
        MAX_MESSAGE_BYTES,
        Math.min(context.maxReadAtomic, 16));
  }

  @Override
  public ProtectionDomain allocateProtectionDomain() {
    if (closed) {
      throw new HcaException("cannot allocate a protection domain: %s is closed".formatted(name()));
    }
    PostedDomain domain = new PostedDomain(this, device, engine, domains::remove);
    domains.add(domain);
    return domain;
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    List.copyOf(domains).reversed().forEach(VerbsDomain::closeAll);
    closed = true;
    try {
      device.close();
    } finally {
      fabric.detach(engine);
    }
  }

  @Override
  public String toString() {
    return engine.where();
  }
}
