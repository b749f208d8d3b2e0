package dev.doorbell.experiments.scenario.scheduling;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A message, as it comes to its sender.
 *
 * @param arrival nanoseconds from the beginning until it is there
 * @param due nanoseconds from the beginning until it should be complete
 */
record Message(int number, int bytes, boolean urgent, long arrival, long due) {
  /** One message of so many is long. */
  private static final int OF_LONG = 4;

  /** One message of so many is urgent, whether it is long or not. */
  private static final int OF_URGENT = 4;

  /** The shortest time until a message is due, as a part of the longest one. */
  private static final double SOONEST = 0.1;

  /**
   * What arrives.
   *
   * @param count messages
   * @param small bytes of three of four
   * @param large bytes of the others
   * @param deadline longest time from arrival until a message is due, in nanoseconds
   */
  record Mix(int count, int small, int large, long deadline) {
    /**
     * Messages in the order of their arrival, the intervals between them exponential.
     *
     * @param bytesPerNano what arrives in the mean; 0: all at once
     */
    List<Message> arriving(double bytesPerNano, long seed) {
      SplittableRandom random = new SplittableRandom(seed);
      double mean = (small * (OF_LONG - 1.0) + large) / OF_LONG;
      List<Message> messages = new ArrayList<>();
      double now = 0;
      for (int number = 0; number < count; number++) {
        int bytes = random.nextInt(OF_LONG) == 0 ? large : small;
        boolean urgent = random.nextInt(OF_URGENT) == 0;
        double slack = deadline * (SOONEST + (1 - SOONEST) * random.nextDouble());
        messages.add(new Message(number, bytes, urgent, (long) now, (long) (now + slack)));
        if (bytesPerNano > 0) {
          now += -Math.log(1 - random.nextDouble()) * mean / bytesPerNano;
        }
      }
      return messages;
    }
  }
}
