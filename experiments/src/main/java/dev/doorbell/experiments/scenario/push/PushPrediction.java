package dev.doorbell.experiments.scenario.push;

import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.Prediction;
import java.util.ArrayList;
import java.util.List;

/** The closed forms of pushing: a ring as a queue, and as a window. */
final class PushPrediction {
  private PushPrediction() {}

  /**
   * What is known of a point before it runs: that a message finds the ring full as an M/M/1/W queue
   * loses it, and that no more than a ring goes out in a round trip where slots are retained until
   * acknowledged.
   *
   * @param bytesPerNano rate of a port of the network
   */
  static Prediction of(Point point, double bytesPerNano) {
    List<Prediction.Term> terms = new ArrayList<>();
    int slots = (int) point.whole("slots");
    long load = point.whole("load");
    if (load > 0) {
      terms.add(
          new Prediction.Term(
              "full",
              full(load / 100.0, slots),
              "",
              "P = (1 - rho) rho^W / (1 - rho^(W+1))",
              false));
    }
    long rtt = point.whole("rtt");
    if (load == 0 && rtt > 0 && point.text("release").equals("acknowledged")) {
      terms.add(
          new Prediction.Term(
              "goodput",
              Math.min(
                  bytesPerNano,
                  (double) slots * point.whole("size") * point.whole("senders") / rtt),
              "GB/s",
              "min(C, n W s / RTT)",
              true));
    }
    return new Prediction(terms);
  }

  /** The probability that an arrival finds all {@code slots} of an M/M/1/W queue taken. */
  static double full(double load, int slots) {
    return load == 1
        ? 1.0 / (slots + 1)
        : (1 - load) * Math.pow(load, slots) / (1 - Math.pow(load, slots + 1));
  }
}
