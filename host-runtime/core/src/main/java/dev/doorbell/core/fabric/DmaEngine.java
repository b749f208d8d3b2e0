package dev.doorbell.core.fabric;

import dev.doorbell.core.agent.Agent;
import org.jspecify.annotations.Nullable;

/**
 * Moves bytes between the host and memory that its CPU cannot address, such as that of a real GPU;
 * what a real HCA does by PCIe peer-to-peer.
 *
 * <p>Transfers take effect in the order of the calls. All methods belong to the thread that steps
 * the devices; completions are called while the engine is stepped, never during another call.
 * Nothing is allocated for a transfer.
 */
public interface DmaEngine extends Agent {
  /** True when all these bytes are in memory that this engine reaches. */
  boolean reaches(long address, long bytes);

  /**
   * Reads.
   *
   * @param address first byte in far memory
   * @param target native address; holds the bytes when {@code completion} is called
   */
  void read(long address, long target, int bytes, Completion completion);

  /**
   * Writes; the bytes are taken from {@code source} during the call. Where they end at an address
   * that 8 divides, the last 8 appear after the others.
   *
   * @param visible called when kernels see all of it
   */
  void write(long source, long address, int bytes, @Nullable Completion visible);

  /** True when nothing is under way. */
  boolean isIdle();
}
