package dev.doorbell.doctor;

import dev.doorbell.doctor.catalogue.CheckResult;
import dev.doorbell.doctor.catalogue.CheckVerdict;
import dev.doorbell.doctor.facts.Facts;
import dev.doorbell.doctor.topology.PciTopology;
import java.util.List;

/** The findings of the doctor, in the order of the checklist. */
public record Diagnosis(Facts facts, PciTopology topology, List<CheckResult> findings) {
  public Diagnosis {
    findings = List.copyOf(findings);
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
