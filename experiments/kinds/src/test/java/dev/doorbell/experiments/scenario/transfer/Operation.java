package dev.doorbell.experiments.scenario.transfer;

import dev.doorbell.core.queue.JobView;

/**
 * One operation of a poster's list, by offsets in the areas that {@link OperationBench} has at
 * either rank.
 *
 * @param opcode {@code JobView.OP_*}
 * @param queuePair index among the job's
 * @param local payload, or where fetched data lands
 * @param remote target
 * @param operand of atomics and signals
 * @param compare of compare-and-swap
 * @param signal put signal: the remote word
 * @param fetched put signal: where the word's old value lands
 * @param expressible false when the library has to refuse it
 * @param shared the remote word is one that other posters add to as well
 */
record Operation(
    int opcode,
    int queuePair,
    Slab local,
    Slab remote,
    long operand,
    long compare,
    Slab signal,
    Slab fetched,
    boolean expressible,
    boolean shared) {

  static final Slab NOTHING = new Slab(0, 0);

  private boolean readsLocal() {
    return opcode == JobView.OP_PUT
        || opcode == JobView.OP_PUT_INLINE
        || opcode == JobView.OP_PUT_SIGNAL;
  }

  /**
   * Whether a later operation may begin while this one is under way. A queue pair executes what
   * writes at the target in order; nothing else is promised.
   */
  boolean lets(Operation later) {
    boolean sameQueue = queuePair == later.queuePair;
    boolean ordered = sameQueue && (opcode == JobView.OP_PUT || opcode == JobView.OP_PUT_INLINE);
    boolean remotesMeet = touchesRemote(later.remote) || touchesRemote(later.signal);
    boolean bothReadRemote = opcode == JobView.OP_GET && later.opcode == JobView.OP_GET;
    if (remotesMeet && !ordered && !bothReadRemote) {
      return false;
    }
    boolean onlyRead = readsLocal() && later.readsLocal();
    boolean localsMeet =
        local.overlaps(later.local)
            || local.overlaps(later.fetched)
            || fetched.overlaps(later.local)
            || fetched.overlaps(later.fetched);
    boolean fetchedMeets = local.overlaps(later.fetched) || fetched.overlaps(later.local);
    return !localsMeet || (onlyRead && !fetchedMeets && !fetched.overlaps(later.fetched));
  }

  private boolean touchesRemote(Slab range) {
    return remote.overlaps(range) || signal.overlaps(range);
  }

  @Override
  public String toString() {
    String name =
        switch (opcode) {
          case JobView.OP_PUT -> "put";
          case JobView.OP_GET -> "get";
          case JobView.OP_PUT_INLINE -> "put_inline";
          case JobView.OP_FETCH_ADD -> shared ? "fetch_add (shared)" : "fetch_add";
          case JobView.OP_COMPARE_SWAP -> "compare_swap";
          case JobView.OP_PUT_SIGNAL -> "put_signal";
          default -> "opcode " + opcode;
        };
    return "%s on %d, %d B, local %d, remote %d%s"
        .formatted(
            name,
            queuePair,
            local.bytes(),
            local.offset(),
            remote.offset(),
            expressible ? "" : " (to be refused)");
  }
}
