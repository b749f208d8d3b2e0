package dev.doorbell.experiments.cli.run;

import dev.doorbell.doctor.Doctor;
import dev.doorbell.doctor.catalogue.CheckResult;
import dev.doorbell.experiments.plan.Environment;
import dev.doorbell.experiments.run.Manifest;
import java.util.List;
import java.util.Locale;

/**
 * The doctor's findings for the manifest of a run. An emulated run loads no class of the doctor.
 */
final class DoctorFindings {
  private DoctorFindings() {}

  /** Examines this machine if the run uses real devices; their numbers depend on its set-up. */
  static List<Manifest.Diagnosed> of(Environment environment) {
    return environment.emulated()
        ? List.of()
        : Doctor.examineHere().findings().stream().map(DoctorFindings::diagnosed).toList();
  }

  private static Manifest.Diagnosed diagnosed(CheckResult finding) {
    return new Manifest.Diagnosed(
        finding.code().id(), finding.verdict().name().toLowerCase(Locale.ROOT), finding.text());
  }
}
