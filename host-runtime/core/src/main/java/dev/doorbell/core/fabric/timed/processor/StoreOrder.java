package dev.doorbell.core.fabric.timed.processor;

import dev.doorbell.core.fabric.timed.interconnect.AccessPath;

/**
 * The stores that a later fence covers: those of one thread since its last release, or those that
 * threads of one processor have released and no fence has covered yet. Times are in picoseconds.
 */
public final class StoreOrder {
  /** Lines that wait for more stores and hold some of this thread's. */
  int openLines;

  /** There are stores to the processor's own memory. */
  private boolean local;

  /** There are stores to memory elsewhere. */
  private boolean remote;

  /** Longest round trip to memory that posted stores left for since the last flush; 0: none did. */
  private long roundTrip;

  private long acknowledged;
  private long acknowledgedNear;
  private long departed;

  /** A store to the processor's own memory was made. */
  public void storedLocally() {
    local = true;
  }

  /** A store to memory elsewhere was made. */
  public void storedRemotely() {
    remote = true;
  }

  /** A store leaves that nothing acknowledges: a read behind it takes the path's round trip. */
  public void posting(AccessPath path) {
    if (!path.near) {
      roundTrip = Math.max(roundTrip, path.roundTrip());
    }
  }

  /** A posted store has left, and is there and known to be at {@code when}. */
  void posted(AccessPath path, long when) {
    departed = Math.max(departed, path.out().departed());
    acknowledged = Math.max(acknowledged, when);
    if (path.near) {
      acknowledgedNear = Math.max(acknowledgedNear, when);
    }
  }

  /** Counts these stores as those of {@code processor} from now on. */
  public void release(StoreOrder processor) {
    processor.departed = Math.max(processor.departed, departed);
    processor.acknowledged = Math.max(processor.acknowledged, acknowledged);
    processor.acknowledgedNear = Math.max(processor.acknowledgedNear, acknowledgedNear);
    processor.local |= local;
    processor.remote |= remote;
    processor.roundTrip = Math.max(processor.roundTrip, roundTrip);
    local = false;
    remote = false;
    roundTrip = 0;
  }

  /** Returns whether there are local stores, and covers them. */
  public boolean coverLocal() {
    boolean covered = local;
    local = false;
    return covered;
  }

  /** Returns whether there are remote stores, and covers them. */
  public boolean coverRemote() {
    boolean covered = remote;
    remote = false;
    return covered;
  }

  /** Returns the round trip that pushes all posted stores to where they go, and covers them. */
  public long coverRoundTrip() {
    long covered = roundTrip;
    roundTrip = 0;
    return covered;
  }

  /** When the last posted store is acknowledged. */
  public long acknowledged() {
    return acknowledged;
  }

  /** When the last store over NVLink is acknowledged. */
  public long acknowledgedNear() {
    return acknowledgedNear;
  }

  /** When the last posted store has left. */
  public long departed() {
    return departed;
  }
}
