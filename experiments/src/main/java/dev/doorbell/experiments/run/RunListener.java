package dev.doorbell.experiments.run;

import dev.doorbell.experiments.plan.Point;

/** Is notified of a run's progress, always on the thread that called {@link RunExecution#run}. */
public interface RunListener {
  /** Does nothing. */
  RunListener SILENT =
      new RunListener() {
        @Override
        public void recorded(Point point, JournalEntry entry, int done, int total) {}

        @Override
        public void tick() {}
      };

  /**
   * A point is recorded.
   *
   * @param done points recorded so far, this one included
   * @param total points of this run
   */
  void recorded(Point point, JournalEntry entry, int done, int total);

  /** Some time has passed; called a few times a second. */
  void tick();
}
