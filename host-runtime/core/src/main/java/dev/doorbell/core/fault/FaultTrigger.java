package dev.doorbell.core.fault;

/**
 * When a fault happens: of the events that it is tied to, those in [{@code first}, {@code last}],
 * every {@code every}-th of them, not before {@code afterNanos} of the device's clock since the
 * plan was bound, each with probability {@code chance}, at most {@code times} of them.
 *
 * @param first the first event, from 0
 * @param last the last one, inclusive
 * @param every 1 for each
 * @param chance from 0 to 1
 * @param afterNanos 0 for at once
 * @param times {@link Long#MAX_VALUE} for no limit
 */
public record FaultTrigger(
    long first, long last, long every, double chance, long afterNanos, long times) {

  public FaultTrigger {
    if (first < 0 || last < first || every < 1 || afterNanos < 0 || times < 1) {
      throw new IllegalArgumentException(
          "an impossible trigger: %d to %d, every %d, after %d ns, %d times"
              .formatted(first, last, every, afterNanos, times));
    }
    if (!(chance >= 0 && chance <= 1)) {
      throw new IllegalArgumentException("a probability of " + chance);
    }
  }

  /** One event, from 0. */
  public static FaultTrigger at(long index) {
    return new FaultTrigger(index, index, 1, 1, 0, 1);
  }

  public static FaultTrigger chance(double probability) {
    return new FaultTrigger(0, Long.MAX_VALUE, 1, probability, 0, Long.MAX_VALUE);
  }

  /** True when the {@code index}-th event is one of those that the trigger speaks of. */
  boolean names(long index) {
    return index >= first && index <= last && (index - first) % every == 0;
  }
}
