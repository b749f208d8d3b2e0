package dev.doorbell.experiments.scenario.scheduling;

import java.util.Comparator;
import java.util.List;

/** Which of the messages that wait is posted next. */
enum Schedule {
  /** No such experiment. */
  NONE,
  /** The one that has waited longest. */
  FIFO,
  /** Urgent ones before others. */
  PRIORITY,
  /** The one with the fewest bytes. */
  SHORTEST,
  /** The one that is due first. */
  DEADLINE,
  /** All in turns, a piece of each. */
  INTERLEAVED;

  /**
   * The next one of {@code waiting}; of equal ones that which has waited longest.
   *
   * @param waiting one at least, in the order in which they have come, or come back
   */
  Message next(List<Message> waiting) {
    return switch (this) {
      case NONE, FIFO, INTERLEAVED -> waiting.getFirst();
      case PRIORITY -> least(waiting, Comparator.comparing(message -> !message.urgent()));
      case SHORTEST -> least(waiting, Comparator.comparingInt(Message::bytes));
      case DEADLINE -> least(waiting, Comparator.comparingLong(Message::due));
    };
  }

  /** Bytes of a message that are posted at once. */
  int piece(int left, int chunk) {
    return this == INTERLEAVED ? Math.min(left, chunk) : left;
  }

  /** The first of those that no other one is less than. */
  private static Message least(List<Message> waiting, Comparator<Message> order) {
    return waiting.stream().min(order).orElseThrow();
  }
}
