package dev.doorbell.core.fabric.explore.litmus.axiom;

import java.util.List;
import java.util.Map;

/**
 * One way through a thread's code, for some values of its loads.
 *
 * @param events in program order
 * @param registers at the end
 * @param blocked the last event is a barrier that never lets the thread go on
 * @param spinning the thread goes round a loop for ever: its last round wrote nothing and left the
 *     registers as the round before
 * @param lastRound the first event of that round
 */
record ThreadTrace(
    List<Event> events,
    Map<String, Integer> registers,
    boolean blocked,
    boolean spinning,
    int lastRound) {

  boolean ends() {
    return !blocked && !spinning;
  }

  /** Where a thread that does not end stays. */
  String stays() {
    return spinning && lastRound < events.size()
        ? events.get(lastRound).where()
        : events.isEmpty() ? "a loop without accesses" : events.getLast().where();
  }
}
