package dev.doorbell.core.fabric.explore.model;

import org.jspecify.annotations.Nullable;

/**
 * Two accesses to the same bytes that nothing orders, at least one a store.
 *
 * @param address of the later access
 * @param bytes of the later access
 * @param scope the {@link dev.doorbell.core.fabric.Access} scope that holds both
 */
public record Conflict(Kind kind, long address, int bytes, Event earlier, Event later, int scope) {
  /** The kind of error. */
  public enum Kind {
    /** Two stores. */
    STORES,
    /** A thread loads what was stored. */
    LOAD_OF_STORE,
    /** A thread stores over what was loaded. */
    STORE_OVER_LOAD,
    /** A device reads what was stored. */
    DMA_READ_OF_STORE,
    /** A device writes over what was loaded or stored. */
    DMA_WRITE,
    /** A thread stores over what a device has read, or is about to read. */
    STORE_OVER_DMA_READ,
    /** A bulk copy reads what no proxy fence makes visible to it. */
    PROXY,
    /** {@code ld.nc} of what was stored since the kernel began. */
    NON_COHERENT,
    /** A doorbell record announces a WQE whose stores it does not release. */
    RECORD_BEFORE_WQE,
    /** A doorbell arrived, and the doorbell record may still be behind it. */
    RECORD_BEHIND_DOORBELL,
    /** A doorbell record announces fewer WQEs than the store before it. */
    RECORD_GOES_BACK
  }

  /**
   * One of them.
   *
   * @param access {@link dev.doorbell.core.fabric.Access} bits
   * @param at what the actor's agent said of its place, see {@link
   *     dev.doorbell.core.agent.Agent#place}
   */
  public record Event(Actor actor, boolean store, int access, @Nullable Object at) {}
}
