package dev.doorbell.doctor;

import dev.doorbell.doctor.check.CheckedMachine;
import dev.doorbell.doctor.check.Checklist;
import dev.doorbell.doctor.facts.Facts;
import java.nio.file.Path;

/** Examines a machine. */
public final class Doctor {
  private Doctor() {}

  /** Examines this machine, as this process sees it. */
  public static Diagnosis examineHere() {
    return examine(Facts.read(Path.of("/")));
  }

  /** Goes through the checklist. */
  public static Diagnosis examine(Facts facts) {
    CheckedMachine machine = new CheckedMachine(facts);
    return new Diagnosis(facts, machine.topology(), Checklist.examine(machine));
  }
}
