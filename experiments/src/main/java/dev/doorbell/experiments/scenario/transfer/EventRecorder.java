package dev.doorbell.experiments.scenario.transfer;

import dev.doorbell.core.trace.Trace;
import dev.doorbell.core.trace.TraceEvent;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Keeps all events of a world. */
final class EventRecorder implements Trace {
  private final List<TraceEvent> events = new ArrayList<>();

  @Override
  public boolean enabled() {
    return true;
  }

  @Override
  public void record(TraceEvent event) {
    events.add(event);
  }

  /** Drops the events so far. */
  void clear() {
    events.clear();
  }

  /** The events in the order of their times. */
  List<TraceEvent> byTime() {
    List<TraceEvent> ordered = new ArrayList<>(events);
    ordered.sort(Comparator.comparingLong(TraceEvent::nanos));
    return ordered;
  }
}
