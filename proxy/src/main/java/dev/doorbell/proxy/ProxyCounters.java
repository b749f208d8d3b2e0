package dev.doorbell.proxy;

/**
 * Counts what a poster has done since it started. Plain fields, written by the one thread that
 * steps the agent; read them between steps.
 */
public final class ProxyCounters {
  /** Rounds that found nothing to do. */
  public long spins;

  /** Rounds that took at least one command. */
  public long batches;

  /** Commands taken from queues. */
  public long commands;

  /** Commands that ended well. */
  public long completed;

  /** Commands that ended with an error, or could not be posted. */
  public long failed;

  public long wqes;

  /** Times that a command had to wait for room in a send or completion queue. */
  public long waits;

  /** The most commands taken in one round. */
  public long largestBatch;

  /** Commands taken that have not ended. */
  public long inFlight() {
    return commands - completed - failed;
  }
}
