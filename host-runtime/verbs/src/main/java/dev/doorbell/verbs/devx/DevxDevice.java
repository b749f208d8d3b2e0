package dev.doorbell.verbs.devx;

import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.MmioTarget;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.mlx5.Doorbell;
import dev.doorbell.core.mlx5.prm.Capabilities;
import dev.doorbell.verbs.device.DeviceContext;
import dev.doorbell.verbs.device.DeviceFilter;
import dev.doorbell.verbs.library.Mlx5Functions;
import dev.doorbell.verbs.library.NativeFunction.Failure;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * An mlx5 device opened for firmware commands: its event queue, its doorbell pages, and the pages
 * of the fabric that stand for pages of the device (stand-ins). It does not depend on the queues
 * that are created on it.
 */
public final class DevxDevice implements AutoCloseable {
  private static final Failure EVENT_QUEUE =
      Failure.of("find the event queue", "see dmesg for what the driver says");

  private final Fabric fabric;
  private final DevicePort fabricPort;
  private final Locus locus;
  private long onChipTaken;

  public final DeviceContext context;
  public final Capabilities capabilities;

  /** The doorbell page of queue pairs that have none of their own. */
  public final DoorbellPage doorbells;

  /** The number of the event queue that completion queues report to. */
  final int eventQueue;

  /**
   * Opens a device.
   *
   * @param port of the HCA's agent: stores to stand-ins arrive there
   * @param locus where the device is: stand-ins lie there
   * @throws dev.doorbell.core.hca.HcaException if there is no device, naming which of the four
   *     causes it is, or if a step of opening it fails, naming what is missing
   */
  public DevxDevice(
      Fabric fabric, DevicePort port, Locus locus, DeviceFilter filter, int gidIndex) {
    this.fabric = fabric;
    this.fabricPort = port;
    this.locus = locus;
    this.context = DeviceContext.open(filter, gidIndex);
    Allocation page = null;
    try {
      this.capabilities =
          new Capabilities(
              DevxObject.queryDevice(
                  context,
                  "query the capabilities",
                  Capabilities.query(),
                  Capabilities.ANSWER_BYTES));
      this.eventQueue = findEventQueue();
      page = standIn(Doorbell.UAR_BYTES, "doorbell page");
      this.doorbells = DoorbellPage.open(context, page);
    } catch (RuntimeException e) {
      if (page != null) {
        fabric.memory().free(page);
      }
      context.close();
      throw e;
    }
    map(page, doorbells);
  }

  private int findEventQueue() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment number = arena.allocate(ValueLayout.JAVA_INT);
      Mlx5Functions.DEVX_QUERY_EQN.require(EVENT_QUEUE, context.context, 0, number);
      return number.get(ValueLayout.JAVA_INT, 0);
    }
  }

  /**
   * Returns a doorbell page for a queue pair: one of its own with BlueFlame if the device has one
   * left and the posters store to a stand-in, else the shared one.
   *
   * @param ring its send ring; if no thread of the fabric can address it, a GPU rings, which needs
   *     a page that combines no stores
   */
  DoorbellPage doorbellsFor(Memory ring) {
    if (capabilities.blueFlameBytes() == 0
        || !fabric.memory().accessibleRange(ring.address(), ring.size())) {
      return doorbells;
    }
    Allocation standIn = standIn(Doorbell.UAR_BYTES, "BlueFlame page");
    DoorbellPage own = DoorbellPage.openBlueFlame(context, standIn);
    if (own == null) {
      fabric.memory().free(standIn);
      return doorbells;
    }
    map(standIn, own);
    return own;
  }

  /** Releases a page of {@link #doorbellsFor}. */
  void release(DoorbellPage page) {
    if (page != doorbells) {
      closeNow(page);
    }
  }

  private void closeNow(DoorbellPage page) {
    page.close();
    unmap(page.page());
  }

  /** Bytes of a BlueFlame half of that page; 0 for the shared one. */
  int blueFlameBytes(DoorbellPage page) {
    return page == doorbells ? 0 : capabilities.blueFlameBytes();
  }

  /** Bytes of on-chip memory that are allocated through this context. */
  long onChipTaken() {
    return onChipTaken;
  }

  /**
   * @param bytes allocated; negative: freed
   */
  void takeOnChip(long bytes) {
    onChipTaken += bytes;
  }

  /**
   * Allocates a stand-in of {@code bytes} for on-chip memory; stores to it go to {@code target}.
   */
  Allocation mapOnChip(long bytes, MmioTarget target) {
    Allocation standIn = standIn(bytes, "on-chip memory");
    map(standIn, target);
    return standIn;
  }

  private Allocation standIn(long bytes, String label) {
    return fabric.memory().allocate(MemoryKind.UAR, locus, bytes, context.name + " " + label);
  }

  private void map(Allocation standIn, MmioTarget target) {
    for (long at = 0; at < standIn.size(); at += AddressSpace.PAGE) {
      fabricPort.onMmio(standIn.address() + at, target);
    }
  }

  void unmap(Allocation standIn) {
    for (long at = 0; at < standIn.size(); at += AddressSpace.PAGE) {
      fabricPort.offMmio(standIn.address() + at);
    }
    fabric.memory().free(standIn);
  }

  @Override
  public void close() {
    closeNow(doorbells);
    context.close();
  }
}
