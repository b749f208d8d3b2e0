package dev.doorbell.doctor;

import dev.doorbell.doctor.check.CheckedMachine;
import dev.doorbell.doctor.check.Checklist;
import dev.doorbell.doctor.facts.Facts;
import dev.doorbell.doctor.facts.PeerReport;
import java.nio.file.Path;
import java.util.Optional;

/** Examines a machine. */
public final class Doctor {
  private Doctor() {}

  /** Examines this machine, as this process sees it. */
  public static Diagnosis examineHere() {
    return examine(Facts.read(Path.of("/")), Optional.empty());
  }

  /**
   * Goes through the checklist.
   *
   * @param peer the report of another host, to be compared with this one
   */
  public static Diagnosis examine(Facts facts, Optional<PeerReport> peer) {
    CheckedMachine machine = CheckedMachine.of(facts, peer);
    return new Diagnosis(facts, machine.topology(), Checklist.examine(machine));
  }
}
