package dev.doorbell.core.roce;

import dev.doorbell.core.roce.generated.Bth;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Counts the messages that a responder can have completed, judged by those that were sent to it:
 * the upper limit of its message sequence number (InfiniBand, chapter 9.7.5.1.2). The number that
 * the capture began with is learned: from what an answer acknowledges, and never less than it was.
 */
final class MessageCount {
  /** Messages remembered at most; an answer to an older one teaches nothing. */
  private static final int REMEMBERED = 1024;

  private final Deque<Ended> ended = new ArrayDeque<>();
  private int sent;
  private boolean known;

  /** The number before the first message of the capture, at most; 24 bits. */
  private int base;

  /**
   * A message that was sent whole.
   *
   * @param psn of its last packet, or of the last that it is known to have
   * @param count of messages up to it
   * @param answered by packets of its own, so that it may not be counted in them yet
   */
  private record Ended(int psn, int count, boolean answered) {}

  private static int ahead(int a, int b) {
    return (a - b) << 8 >> 8;
  }

  /** A message was sent whole. */
  void onMessage(int lastPsn, boolean answered) {
    sent++;
    ended.addLast(new Ended(lastPsn, sent, answered));
    if (ended.size() > REMEMBERED) {
      ended.removeFirst();
    }
  }

  /** Packets are missing in the capture; each may have been a message. */
  void onGap(int missing) {
    known = false;
    sent = missing;
    ended.clear();
  }

  /**
   * An answer says {@code msn}.
   *
   * @param acknowledged the last number that it acknowledges
   * @return the largest number that is possible, or -1 when {@code msn} is possible
   */
  int refuted(int msn, int acknowledged) {
    int completed = 0;
    for (Ended message : ended) {
      int behind = ahead(acknowledged, message.psn);
      if (behind > 0 || (behind == 0 && !message.answered)) {
        completed = message.count;
      }
    }
    if (known && ahead(msn, base + sent) > 0) {
      int most = base + sent & Bth.MASK_24;
      base = msn - sent & Bth.MASK_24;
      return most;
    }
    int learned = msn - completed;
    if (!known || ahead(learned, base) < 0) {
      base = learned & Bth.MASK_24;
      known = true;
    }
    return -1;
  }
}
