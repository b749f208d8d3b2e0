package dev.doorbell.doctor;

import dev.doorbell.doctor.catalogue.CheckResult;
import dev.doorbell.doctor.catalogue.CheckVerdict;
import dev.doorbell.doctor.check.CheckedMachine;
import dev.doorbell.doctor.check.Checklist;
import dev.doorbell.doctor.facts.Facts;
import dev.doorbell.doctor.topology.PciTopology;
import java.nio.file.Path;
import java.util.List;

/** The findings of the doctor, in the order of the checklist. */
public record Diagnosis(Facts facts, PciTopology topology, List<CheckResult> findings) {
  public Diagnosis {
    findings = List.copyOf(findings);
  }

  /** Examines this machine, as this process sees it. */
  public static Diagnosis here() {
    return of(Facts.read(Path.of("/")));
  }

  /** Goes through the checklist. */
  public static Diagnosis of(Facts facts) {
    CheckedMachine machine = new CheckedMachine(facts);
    return new Diagnosis(facts, machine.topology(), Checklist.examine(machine));
  }

  public long count(CheckVerdict verdict) {
    return findings.stream().filter(finding -> finding.verdict() == verdict).count();
  }

  /** Returns true if something that is there is broken. */
  public boolean failed() {
    return count(CheckVerdict.FAIL) > 0;
  }

  public List<Ability> abilities() {
    return Ability.of(findings);
  }
}
