package dev.doorbell.softhca.device;

import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.hca.AsyncEvent;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.roce.Gid;
import dev.doorbell.softhca.congestion.CreditPool;
import dev.doorbell.softhca.device.HcaFaults.FaultTarget;
import dev.doorbell.softhca.packet.Packet;
import dev.doorbell.softhca.packet.Wire;
import dev.doorbell.softhca.packet.Wire.Station;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** Services of an HCA to its parts. All calls are made by the host thread that steps it. */
public interface HcaServices extends Station {
  /** Bytes at {@link #scratch}. */
  int SCRATCH_BYTES = 64;

  SoftHcaOptions options();

  /** The GID at an index of its table, or its first one where there is none. */
  Gid sourceGid(int index);

  Wire wire();

  /** False while packets are lost because the cable is out. */
  boolean isLinkUp();

  /** Plugs the cable in or pulls it out. */
  void linkUp(boolean up);

  /** True when packets are nothing but their effect: no time, no trace, no fault, no lost cable. */
  boolean isImmediate();

  /** Takes over a packet that the fault plan has let through. */
  void arrive(Packet packet);

  /** Pipeline that limits the rates of the HCA. */
  HcaPipeline pipeline();

  /** The credits that it grants its peers, or null where it grants none. */
  @Nullable CreditPool credits();

  /** The number of a new connection of an initiator: larger than that of any earlier one. */
  long nextConnection();

  /** Adds an asynchronous event of an object with that number. */
  void raise(AsyncEvent.Type type, int number);

  /** A packet was dropped because it came from elsewhere than it said or should. */
  void countStranger();

  /** The fault plan, or null. It may be set at any time. */
  @Nullable HcaFaults faults();

  /** The tracer, or null when nothing is traced. */
  @Nullable HcaTracer tracer();

  /** The queue pair that faults count under {@code number}, or null. */
  @Nullable FaultTarget faultTarget(int number);

  /** Address of the doorbell page where completion queues are armed. */
  long uarPage();

  /** Memory at the HCA's place. */
  Allocation allocate(MemoryKind kind, long bytes, String label);

  void free(Allocation allocation);

  /**
   * Refuses memory that its DMA cannot reach.
   *
   * @throws dev.doorbell.core.hca.HcaException if a byte lies elsewhere
   */
  void requireReachable(long address, long bytes);

  /** Native address of {@link #SCRATCH_BYTES} bytes to write from, valid within one call. */
  long scratch();

  /** Native address of {@link Packet#MAX_PAYLOAD} bytes whose content is never read. */
  long dropBuffer();

  /**
   * Chooses one of several alternatives, as the fabric says or at random.
   *
   * @return 0 to {@code alternatives - 1}
   */
  static int choose(DevicePort port, SplittableRandom random, int alternatives) {
    int chosen = alternatives == 1 ? 0 : port.choose(alternatives);
    return chosen < 0 ? random.nextInt(alternatives) : chosen;
  }
}
