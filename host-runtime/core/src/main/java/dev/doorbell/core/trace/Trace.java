package dev.doorbell.core.trace;

/** Receives events. Callers ask {@link #enabled} before they build one. */
public interface Trace {
  /** Keeps nothing. */
  Trace NONE =
      new Trace() {
        @Override
        public boolean enabled() {
          return false;
        }

        @Override
        public void record(TraceEvent event) {}
      };

  /** False when there is no listener. */
  boolean enabled();

  /** Takes an event; events of one locus come in the order of their times. */
  void record(TraceEvent event);
}
