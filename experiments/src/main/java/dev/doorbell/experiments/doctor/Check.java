package dev.doorbell.experiments.doctor;

import java.util.List;
import java.util.function.Consumer;

/** A part of the checklist: looks at a case and says what it finds. */
interface Check {
  /** All that it can find, in the order of their numbers. */
  List<Code> codes();

  void examine(Case patient, Consumer<Finding> found);
}
