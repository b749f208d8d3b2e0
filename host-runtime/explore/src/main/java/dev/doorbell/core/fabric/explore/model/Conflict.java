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
  /** The kind of error, in words, with its usual fix. */
  public enum Kind {
    STORES("two stores race", "order them, or make both strong with a scope that holds both"),
    LOAD_OF_STORE(
        "a load races with a store",
        "release after the store and acquire before the load, with a scope that holds both"),
    STORE_OVER_LOAD(
        "a store races with an earlier load of another thread",
        "release after the load and acquire before the store"),
    DMA_READ_OF_STORE(
        "the HCA reads what may not have arrived",
        "fence between the store and the record, or the doorbell, that leads the HCA there"),
    DMA_WRITE(
        "the HCA writes where a thread may still read or store",
        "notify the peer by a message when the memory is free"),
    STORE_OVER_DMA_READ(
        "a thread stores over what the HCA may still read",
        "wait for the completion before the memory is used again"),
    PROXY(
        "a bulk copy reads what its proxy may not see yet",
        "fence.proxy.async between the stores and the copy"),
    NON_COHERENT(
        "ld.nc of memory that is stored to while the kernel runs",
        "load it without .nc: the read-only cache is not kept coherent"),
    RECORD_BEFORE_WQE(
        "the doorbell record may arrive before a WQE that it announces",
        "fence between the WQE's stores and the record's"),
    RECORD_BEHIND_DOORBELL(
        "the doorbell may overtake the doorbell record",
        "fence between the record's store and the doorbell's"),
    RECORD_GOES_BACK(
        "the doorbell record goes back to fewer WQEs",
        "let one poster at a time write the record, or the newest index alone");

    private final String what;
    private final String fix;

    Kind(String what, String fix) {
      this.what = what;
      this.fix = fix;
    }

    public String what() {
      return what;
    }

    public String fix() {
      return fix;
    }
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
