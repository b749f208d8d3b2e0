package dev.doorbell.doctor;

import dev.doorbell.doctor.catalogue.Finding;
import dev.doorbell.doctor.catalogue.Verdict;
import dev.doorbell.doctor.facts.Facts;
import dev.doorbell.doctor.topology.PciTopology;
import java.util.List;

/** What the doctor has found, in the order of the checklist. */
public record Diagnosis(Facts facts, PciTopology topology, List<Finding> findings) {
  public Diagnosis {
    findings = List.copyOf(findings);
  }

  public long count(Verdict verdict) {
    return findings.stream().filter(finding -> finding.verdict() == verdict).count();
  }

  /** Whether something that is there is broken. */
  public boolean failed() {
    return count(Verdict.FAIL) > 0;
  }

  /** What the machine can be used for. */
  public List<Ability> abilities() {
    return Ability.of(findings);
  }
}
