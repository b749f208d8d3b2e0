package dev.doorbell.softhca.requester;

/**
 * The incomplete requests of a send queue, oldest first, with three 64-bit cursors: {@code oldest}
 * completes next, {@code sending} is carried out next, {@code newest} is one past the last.
 */
final class RequestRing {
  private static final int FIRST_SIZE = 8;

  private final Runnable onProgress;
  private final int limit;
  private SendRequest[] requests;
  long oldest;
  long sending;
  long newest;

  /**
   * @param onProgress called when a request may be able to continue
   */
  RequestRing(Runnable onProgress, int limit) {
    this.onProgress = onProgress;
    this.limit = limit;
    requests = new SendRequest[Math.min(limit, FIRST_SIZE)];
    for (int i = 0; i < requests.length; i++) {
      requests[i] = new SendRequest(onProgress);
    }
  }

  SendRequest at(long number) {
    SendRequest[] ring = requests;
    return ring[(int) number & (ring.length - 1)];
  }

  boolean isEmpty() {
    return oldest == newest;
  }

  boolean isFull() {
    return newest - oldest == limit;
  }

  /** The request that {@link #newest} will count when it moves on. */
  SendRequest next() {
    if (newest - oldest == requests.length) {
      grow();
    }
    return at(newest);
  }

  /** Doubles the ring, all of whose requests are live. */
  private void grow() {
    SendRequest[] old = requests;
    SendRequest[] larger = new SendRequest[old.length * 2];
    for (long number = oldest; number < newest; number++) {
      larger[(int) number & (larger.length - 1)] = old[(int) number & (old.length - 1)];
    }
    for (long number = newest; number < oldest + larger.length; number++) {
      larger[(int) number & (larger.length - 1)] = new SendRequest(onProgress);
    }
    requests = larger;
  }
}
