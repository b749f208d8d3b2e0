package dev.doorbell.push.network;

/**
 * Queues of the switches of a {@link SwitchedNetwork}.
 *
 * @param bytesPerNano rate of each port
 * @param cableNanos latency of each cable
 * @param switchNanos from a frame's last bit in to its place in the queue of its port
 * @param bufferBytes of each switch, shared by its ports
 * @param threshold of the shared buffer (Choudhury and Hahne, "Dynamic queue length thresholds",
 *     1998): a queue may have so many times what is free. Without PFC a queue is that of a port
 *     out, and what exceeds is lost; with PFC it is what came in by a port, and what exceeds pauses
 *     the sender there
 * @param marking ECN; {@link Marking#NONE} marks nothing
 * @param headroomBytes of each port in for what arrives after a pause was sent; 0: no PFC
 */
public record QueueOptions(
    double bytesPerNano,
    long cableNanos,
    long switchNanos,
    int bufferBytes,
    double threshold,
    Marking marking,
    int headroomBytes) {

  /**
   * Marks by the length of the queue out: none up to {@code least} bytes, all above {@code most},
   * between them with a probability that grows to {@code probability} (RED, as DCQCN uses it).
   */
  public record Marking(int least, int most, double probability) {
    /** Nothing is marked. */
    public static final Marking NONE = new Marking(Integer.MAX_VALUE, Integer.MAX_VALUE, 0);

    public Marking {
      if (least < 0 || most < least || !(probability >= 0 && probability <= 1)) {
        throw new IllegalArgumentException(
            "marks from %d to %d bytes with probability %s".formatted(least, most, probability));
      }
    }

    /** Everything above {@code bytes}. */
    public static Marking above(int bytes) {
      return new Marking(bytes, bytes, 1);
    }

    double chance(long queued) {
      if (queued <= least) {
        return 0;
      }
      return queued > most ? 1 : probability * (queued - least) / (most - least);
    }
  }

  public QueueOptions {
    if (!(bytesPerNano > 0)
        || cableNanos < 0
        || switchNanos < 0
        || bufferBytes <= 0
        || !(threshold > 0)
        || headroomBytes < 0) {
      throw new IllegalArgumentException(
          "queues with %s bytes/ns, cable %d ns, switch %d ns, buffer %d bytes, threshold %s, headroom %d bytes"
              .formatted(
                  bytesPerNano, cableNanos, switchNanos, bufferBytes, threshold, headroomBytes));
    }
  }

  /** Returns true if senders are paused (PFC). */
  public boolean pauses() {
    return headroomBytes > 0;
  }

  /**
   * The least headroom that loses nothing: what the sender sends until the pause has reached it and
   * what is under way then, and on either side a frame that has begun (IEEE 802.1Qbb, annex N).
   */
  public static int headroom(double bytesPerNano, long cableNanos, long switchNanos, int frame) {
    return (int) Math.ceil(2 * cableNanos * bytesPerNano + switchNanos * bytesPerNano) + 2 * frame;
  }
}
