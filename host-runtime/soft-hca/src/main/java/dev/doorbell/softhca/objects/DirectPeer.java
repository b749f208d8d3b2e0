package dev.doorbell.softhca.objects;

import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.memory.AccessFault;
import dev.doorbell.softhca.objects.SoftMemoryRegion.Rights;
import dev.doorbell.softhca.packet.PortCounters;
import org.jspecify.annotations.Nullable;

/**
 * The receiving half at the other end of a connection, where a requester that the same host thread
 * steps may reach the peer's memory without packets. Every check is the one that packets meet; a
 * request that one of them refuses is left to packets, which report it.
 */
public interface DirectPeer {
  /**
   * Returns true if packet {@code psn} is expected next, nothing precedes it, and both ends cut
   * messages into packets of the same path MTU.
   */
  boolean accepts(int psn, int mtu);

  /**
   * Checks a request for memory.
   *
   * @param right the one of {@link Rights} that it needs
   * @return the region, or null if the request is refused or names no byte
   */
  @Nullable SoftMemoryRegion admit(int rkey, long address, long bytes, int right);

  /**
   * Returns true if a receive WQE and room for its CQE are at hand, and a SEND of {@code bytes}
   * bytes fits. Changes nothing.
   */
  boolean acceptsReceive(int bytes);

  /**
   * Writes the next bytes of a SEND to that receive WQE's buffers.
   *
   * @param from port of the sender
   * @param mapped true if {@code address} can be read in place
   * @return false if nothing was written
   * @throws AccessFault if memory of either side was freed
   */
  boolean scatter(DevicePort from, long address, int bytes, boolean mapped);

  /** Completes that receive WQE: everything of the message is where it belongs. */
  void completeReceive(int cqeOpcode, int bytes, int immediate, boolean solicited);

  /** The counters of the peer's HCA. */
  PortCounters counters();

  /** The port of the peer's HCA. */
  DevicePort port();

  /**
   * Whole messages, counted in packets, were executed and acknowledged without packets.
   *
   * @param right which each of them needed; 0 for SENDs
   */
  void completeInline(int messages, int packets, int right);

  /** A READ was answered without packets, of which it would have taken {@code packets}. */
  void completeRead(int psn, int packets);

  /**
   * An atomic was executed and answered without packets.
   *
   * @param result the old value, which is remembered
   */
  void completeAtomic(int psn, long result);

  /**
   * Copies between memory that two HCAs reach.
   *
   * @param source port that reads; null if {@code from} can be read in place
   * @return false if nothing was written
   * @throws AccessFault if memory of either side was freed
   */
  static boolean move(
      @Nullable DevicePort source,
      long from,
      DevicePort target,
      long to,
      int bytes,
      boolean relaxed) {
    long payload = source == null ? from : source.map(from, bytes);
    if (payload == 0) {
      return target.copy(from, to, bytes, relaxed);
    }
    target.write(payload, to, bytes, relaxed);
    return true;
  }
}
